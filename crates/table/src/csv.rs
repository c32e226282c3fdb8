//! The table for people and spreadsheets.

use std::io::Write;

use crate::{Table, TableError, Value};

impl Table {
    /// Writes the table as CSV: a header, then a line for each row, each ended by a line feed.
    pub fn write_csv(&self, to: impl Write) -> Result<(), TableError> {
        let mut writer = csv::Writer::from_writer(to);
        writer.write_record(self.columns().iter().map(|column| &column.name))?;
        for row in self.rows() {
            writer.write_record(row.iter().map(field))?;
        }
        writer.flush().map_err(csv::Error::from)?;
        Ok(())
    }
}

fn field(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Integer(integer) => integer.to_string(),
        Value::Real(real) => real.to_string(),
        Value::Flag(flag) => flag.to_string(),
        Value::Missing => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::sample;
    use crate::{Column, Kind};

    fn written(table: &Table) -> Vec<u8> {
        let mut bytes = Vec::new();
        table.write_csv(&mut bytes).unwrap();
        bytes
    }

    /// Reads a file back under the kinds of the table that it was written from.
    fn read(bytes: &[u8], like: &Table) -> Table {
        let mut reader = csv::Reader::from_reader(bytes);
        let names: Vec<_> = reader.headers().unwrap().iter().map(String::from).collect();
        let kinds = like.columns().iter().map(|column| column.kind);
        let mut table = Table::new(names.into_iter().zip(kinds).map(|(name, kind)| Column::new(name, kind)));
        for record in reader.records() {
            let record = record.unwrap();
            let row = record.iter().zip(like.columns()).map(|(field, column)| parse(field, column.kind));
            table.push(row.collect()).unwrap();
        }
        table
    }

    fn parse(field: &str, kind: Kind) -> Value {
        match kind {
            _ if field.is_empty() => Value::Missing,
            Kind::Text => Value::Text(field.into()),
            Kind::Integer => Value::Integer(field.parse().unwrap()),
            Kind::Real => Value::Real(field.parse().unwrap()),
            Kind::Flag => Value::Flag(field.parse().unwrap()),
        }
    }

    #[test]
    fn a_file_reads_back_as_the_table_it_was_written_from() {
        let table = sample();
        assert_eq!(read(&written(&table), &table), table);
    }

    #[test]
    fn the_same_table_gives_the_same_bytes() {
        assert_eq!(written(&sample()), written(&sample()));
    }

    #[test]
    fn a_table_without_rows_is_its_header() {
        assert_eq!(
            written(&Table::new([Column::new("seed", Kind::Integer), Column::new("a, b", Kind::Real)])),
            b"seed,\"a, b\"\n"
        );
    }

    #[test]
    fn a_real_number_is_its_shortest_decimal() {
        let mut table = Table::new([Column::new("real", Kind::Real)]);
        for real in [2.0, 0.1, 0.1 + 0.2, 1e-7] {
            table.push(vec![Value::Real(real)]).unwrap();
        }
        assert_eq!(written(&table), b"real\n2\n0.1\n0.30000000000000004\n0.0000001\n");
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let full: &mut [u8] = &mut [0; 8];
        assert!(matches!(sample().write_csv(full), Err(TableError::Csv(_))));
    }
}
