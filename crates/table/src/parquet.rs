//! The table for tools, where every column keeps its type.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt64Array};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::{Kind, Table, TableError, Value};

impl Table {
    /// Writes the table as Parquet, compressed with zstd. Every column may hold nulls.
    pub fn write_parquet(&self, to: impl Write + Send) -> Result<(), TableError> {
        let columns = self.columns().iter().enumerate().map(|(index, (name, kind))| {
            let nullable = true;
            (name, array(*kind, self.rows().iter().map(|row| &row[index])), nullable)
        });
        let batch = RecordBatch::try_from_iter_with_nullable(columns).map_err(ParquetError::from)?;
        let compression = Compression::ZSTD(ZstdLevel::default());
        let properties = WriterProperties::builder().set_compression(compression).build();
        let mut writer = ArrowWriter::try_new(to, batch.schema(), Some(properties))?;
        writer.write(&batch)?;
        writer.close()?;
        Ok(())
    }
}

/// One column's values; what is not of the column's kind is missing, because [`Table::push`] lets nothing else in.
fn array<'a>(kind: Kind, values: impl Iterator<Item = &'a Value>) -> ArrayRef {
    macro_rules! gather {
        ($array:ident, $pattern:pat => $value:expr) => {
            Arc::new($array::from_iter(values.map(|value| if let $pattern = value { Some($value) } else { None })))
        };
    }
    match kind {
        Kind::Text => gather!(StringArray, Value::Text(text) => text),
        Kind::Integer => gather!(UInt64Array, Value::Integer(integer) => *integer),
        Kind::Real => gather!(Float64Array, Value::Real(real) => *real),
        Kind::Flag => gather!(BooleanArray, Value::Flag(flag) => *flag),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    use super::*;
    use crate::tests::sample;

    fn written(table: &Table) -> Vec<u8> {
        let mut bytes = Vec::new();
        table.write_parquet(&mut bytes).unwrap();
        bytes
    }

    fn open(bytes: Vec<u8>) -> SerializedFileReader<Bytes> {
        SerializedFileReader::new(Bytes::from(bytes)).unwrap()
    }

    /// Reads a file back under the columns of the table that it was written from.
    fn read(bytes: Vec<u8>, like: &Table) -> Table {
        let mut table = Table::new(like.columns().iter().cloned());
        for row in open(bytes).get_row_iter(None).unwrap() {
            let row = row.unwrap();
            let names = row.get_column_iter().map(|(name, _)| name);
            assert!(names.eq(like.columns().iter().map(|(name, _)| name)));
            table.push(row.get_column_iter().map(|(_, field)| value(field)).collect()).unwrap();
        }
        table
    }

    fn value(field: &Field) -> Value {
        match field {
            Field::Str(text) => Value::Text(text.clone()),
            Field::ULong(integer) => Value::Integer(*integer),
            Field::Double(real) => Value::Real(*real),
            Field::Bool(flag) => Value::Flag(*flag),
            Field::Null => Value::Missing,
            other => panic!("a table has no {other:?}"),
        }
    }

    #[test]
    fn a_file_reads_back_as_the_table_it_was_written_from() {
        let table = sample();
        assert_eq!(read(written(&table), &table), table);
    }

    #[test]
    fn an_empty_text_is_not_missing() {
        let mut table = Table::new([("text", Kind::Text)]);
        table.push(vec![Value::Text(String::new())]).unwrap();
        table.push(vec![Value::Missing]).unwrap();
        assert_eq!(read(written(&table), &table), table);
    }

    #[test]
    fn the_same_table_gives_the_same_bytes() {
        assert_eq!(written(&sample()), written(&sample()));
    }

    #[test]
    fn the_metadata_holds_the_schema_and_nothing_of_the_run() {
        let reader = open(written(&sample()));
        let metadata = reader.metadata().file_metadata();
        let keys = metadata.key_value_metadata().unwrap().iter().map(|entry| entry.key.as_str());
        assert!(keys.eq(["ARROW:schema"]));
        assert!(metadata.created_by().unwrap().starts_with("parquet-rs version "));
    }

    #[test]
    fn every_column_may_hold_nulls_even_in_a_table_without_rows() {
        let table = Table::new([("seed", Kind::Integer), ("agreed", Kind::Flag)]);
        let reader = open(written(&table));
        let metadata = reader.metadata().file_metadata();
        assert_eq!(metadata.num_rows(), 0);
        let fields = metadata.schema().get_fields();
        assert!(fields.iter().map(|field| field.name()).eq(["seed", "agreed"]));
        assert!(fields.iter().all(|field| field.is_optional()));
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let full: &mut [u8] = &mut [0; 8];
        assert!(matches!(sample().write_parquet(full), Err(TableError::Parquet(_))));
    }
}
