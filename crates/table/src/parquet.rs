//! The table for tools, where every column keeps its type.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Metadata, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use serde_json::Value as Json;

use crate::{Column, Kind, Table, TableError, Value};

impl Table {
    /// Writes the table as Parquet, compressed with zstd. Every column may hold nulls.
    pub fn write_parquet(&self, to: impl Write + Send) -> Result<(), TableError> {
        let columns = self.columns().iter().enumerate();
        let arrays = columns.map(|(index, column)| array(column.kind, self.rows().iter().map(|row| &row[index])));
        let schema = Arc::new(Schema::new(self.columns().iter().map(field).collect::<Vec<_>>()));
        let batch = RecordBatch::try_new(schema, arrays.collect()).map_err(ParquetError::from)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_key_value_metadata(Some(self.metadata()))
            .build();
        let mut writer = ArrowWriter::try_new(to, batch.schema(), Some(properties))?;
        writer.write(&batch)?;
        writer.close()?;
        Ok(())
    }

    /// The notes, then the units of all columns that have one, as a JSON object.
    fn metadata(&self) -> Vec<KeyValue> {
        let units = self.columns().iter().filter_map(|column| Some((column.name.clone(), column.unit?.into())));
        let units = Json::Object(units.collect()).to_string();
        let all = self.notes.iter().cloned().chain([("units".to_owned(), units)]);
        all.map(|(key, text)| KeyValue::new(key, text)).collect()
    }
}

fn field(column: &Column) -> Field {
    let kind = match column.kind {
        Kind::Text => DataType::Utf8,
        Kind::Integer => DataType::UInt64,
        Kind::Real => DataType::Float64,
        Kind::Flag => DataType::Boolean,
    };
    let nullable = true;
    let unit = column.unit.map(|unit| ("unit".to_owned(), unit.to_owned()));
    Field::new(&column.name, kind, nullable).with_metadata(unit.into_iter().collect::<Metadata>())
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
    use parquet::record::Field as Cell;

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
            assert!(names.eq(like.columns().iter().map(|column| &column.name)));
            table.push(row.get_column_iter().map(|(_, field)| value(field)).collect()).unwrap();
        }
        table
    }

    fn value(cell: &Cell) -> Value {
        match cell {
            Cell::Str(text) => Value::Text(text.clone()),
            Cell::ULong(integer) => Value::Integer(*integer),
            Cell::Double(real) => Value::Real(*real),
            Cell::Bool(flag) => Value::Flag(*flag),
            Cell::Null => Value::Missing,
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
        let mut table = Table::new([Column::new("text", Kind::Text)]);
        table.push(vec![Value::Text(String::new())]).unwrap();
        table.push(vec![Value::Missing]).unwrap();
        assert_eq!(read(written(&table), &table), table);
    }

    #[test]
    fn the_same_table_gives_the_same_bytes() {
        assert_eq!(written(&sample()), written(&sample()));
    }

    fn metadata(table: &Table) -> Vec<(String, String)> {
        let reader = open(written(table));
        let metadata = reader.metadata().file_metadata();
        assert!(metadata.created_by().unwrap().starts_with("parquet-rs version "));
        let entries = metadata.key_value_metadata().unwrap().iter();
        entries.map(|entry| (entry.key.clone(), entry.value.clone().unwrap_or_default())).collect()
    }

    #[test]
    fn the_metadata_holds_units_notes_and_the_schema_and_nothing_of_the_machine() {
        let keys = |table: &Table| metadata(table).into_iter().map(|(key, _)| key).collect::<Vec<_>>();
        assert_eq!(keys(&sample()), ["units", "ARROW:schema"]);
        let table = Table::new([
            Column::new("wait", Kind::Real).in_units_of("s"),
            Column::new("a \"way\"", Kind::Real).in_units_of("m"),
            Column::new("name", Kind::Text),
        ]);
        let table = table.with_note("driftlock.version", "7.7");
        assert_eq!(keys(&table), ["driftlock.version", "units", "ARROW:schema"]);
        let [version, units, _] = metadata(&table).try_into().unwrap();
        assert_eq!((version.1.as_str(), units.1.as_str()), ("7.7", r#"{"wait":"s","a \"way\"":"m"}"#));
    }

    #[test]
    fn arrow_finds_the_unit_of_a_column_in_its_metadata() {
        let table = Table::new([Column::new("wait", Kind::Real).in_units_of("s"), Column::new("name", Kind::Text)]);
        let bytes = Bytes::from(written(&table));
        let options = parquet::arrow::arrow_reader::ArrowReaderOptions::new();
        let read = parquet::arrow::arrow_reader::ArrowReaderMetadata::load(&bytes, options).unwrap();
        let units = read.schema().fields().iter().map(|field| field.metadata().get("unit").map(String::as_str));
        assert!(units.eq([Some("s"), None]));
    }

    #[test]
    fn every_column_may_hold_nulls_even_in_a_table_without_rows() {
        let table = Table::new([Column::new("seed", Kind::Integer), Column::new("agreed", Kind::Flag)]);
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
