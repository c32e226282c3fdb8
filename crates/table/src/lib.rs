//! Result tables: named, typed columns, filled row by row and written as CSV for people and as Parquet for tools.
//!
//! Both files are a function of the table alone. Neither holds a time stamp or a host name, so the same results give
//! the same bytes and two runs can be compared with `cmp`.
//!
//! Units of measure and notes have no place in CSV. A Parquet file has each unit in the metadata of its column (`unit`,
//! which Arrow's readers show), all of them as a JSON object in the metadata of the file (`units`, which every reader
//! shows), and the notes beside it.
//!
//! | value              | CSV                                           | Parquet                 |
//! | ------------------ | --------------------------------------------- | ----------------------- |
//! | [`Value::Text`]    | as it is, quoted where needed                 | UTF-8 string            |
//! | [`Value::Integer`] | decimal                                       | unsigned 64-bit integer |
//! | [`Value::Real`]    | the shortest decimal that reads back the same | 64-bit float            |
//! | [`Value::Flag`]    | `true`, `false`                               | boolean                 |
//! | [`Value::Missing`] | empty                                         | null                    |
//!
//! CSV cannot tell an empty text from a missing value; Parquet can.
//!
//! ```
//! use driftlock_table::{Column, Kind, Table, Value};
//!
//! let delay = Column::new("delay", Kind::Real).in_units_of("ms");
//! let mut table = Table::new([Column::new("algorithm", Kind::Text), delay]);
//! table.push(vec![Value::Text("flooding".into()), Value::Real(12.5)])?;
//! table.push(vec![Value::Text("silence".into()), Value::Missing])?;
//!
//! let mut csv = Vec::new();
//! table.write_csv(&mut csv)?;
//! assert_eq!(csv, b"algorithm,delay\nflooding,12.5\nsilence,\n");
//! # Ok::<(), driftlock_table::TableError>(())
//! ```

mod csv;
mod parquet;

use std::collections::BTreeSet;
use std::fmt;

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A name, a label.
    Text(String),
    /// A count.
    Integer(u64),
    /// A measurement.
    Real(f64),
    /// A yes or a no.
    Flag(bool),
    /// Nothing was measured; fits every column.
    Missing,
}

impl Value {
    /// The kind of column that this value belongs to, or `None` if it fits every column.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Text(_) => Some(Kind::Text),
            Self::Integer(_) => Some(Kind::Integer),
            Self::Real(_) => Some(Kind::Real),
            Self::Flag(_) => Some(Kind::Flag),
            Self::Missing => None,
        }
    }
}

/// What a column holds, besides missing values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Holds [`Value::Text`].
    Text,
    /// Holds [`Value::Integer`].
    Integer,
    /// Holds [`Value::Real`].
    Real,
    /// Holds [`Value::Flag`].
    Flag,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Real => "real",
            Self::Flag => "flag",
        })
    }
}

/// A column: what it is called, what it holds, and in which unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// No other column of the table is called so.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// The unit of measure of its numbers, if they have one.
    pub unit: Option<&'static str>,
}

impl Column {
    /// A column without a unit.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self { name: name.into(), kind, unit: None }
    }

    /// The same in a unit of measure.
    #[must_use]
    pub fn in_units_of(self, unit: &'static str) -> Self {
        Self { unit: Some(unit), ..self }
    }
}

/// Why a row was refused or a file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The row has fewer values than the table has columns.
    #[error("the row ends before column `{column}`")]
    RowTooShort {
        /// The first column without a value.
        column: String,
    },
    /// The row has more values than the table has columns.
    #[error("the row goes on after the last column, `{column}`")]
    RowTooLong {
        /// The last column.
        column: String,
    },
    /// A value is not of its column's kind.
    #[error("column `{column}` is of kind {expected}, its new value of kind {found}")]
    WrongKind {
        /// The column.
        column: String,
        /// What the column holds.
        expected: Kind,
        /// What it was given.
        found: Kind,
    },
    /// The CSV file could not be written.
    #[error("the CSV file could not be written")]
    Csv(#[from] ::csv::Error),
    /// The Parquet file could not be written.
    #[error("the Parquet file could not be written")]
    Parquet(#[from] ::parquet::errors::ParquetError),
}

/// Rows of values under typed columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Value>>,
    notes: Vec<(String, String)>,
}

impl Table {
    /// A table without rows.
    ///
    /// # Panics
    ///
    /// If there is no column, or if two have the same name: neither format could be read back.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        let columns: Vec<_> = columns.into_iter().collect();
        assert!(!columns.is_empty(), "a table has at least one column");
        let mut names = BTreeSet::new();
        for Column { name, .. } in &columns {
            assert!(names.insert(name), "two columns are named `{name}`");
        }
        Self { columns, rows: Vec::new(), notes: Vec::new() }
    }

    /// The same with something to say about all of it. CSV has no place for it.
    #[must_use]
    pub fn with_note(mut self, key: impl Into<String>, text: impl Into<String>) -> Self {
        self.notes.push((key.into(), text.into()));
        self
    }

    /// Adds a row, which has one value for each column, in order.
    ///
    /// A real number that is infinite or not a number is kept as [`Value::Missing`], because readers disagree about
    /// how a CSV file spells it. A refused row leaves the table as it was.
    pub fn push(&mut self, mut row: Vec<Value>) -> Result<(), TableError> {
        if let Some(column) = self.columns.get(row.len()) {
            return Err(TableError::RowTooShort { column: column.name.clone() });
        }
        if row.len() > self.columns.len() {
            let column = &self.columns[self.columns.len() - 1];
            return Err(TableError::RowTooLong { column: column.name.clone() });
        }
        for (column, value) in self.columns.iter().zip(&mut row) {
            if let Some(found) = value.kind()
                && found != column.kind
            {
                return Err(TableError::WrongKind { column: column.name.clone(), expected: column.kind, found });
            }
            if matches!(value, Value::Real(real) if !real.is_finite()) {
                *value = Value::Missing;
            }
        }
        self.rows.push(row);
        Ok(())
    }

    /// The columns, from left to right.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The rows, oldest first.
    pub fn rows(&self) -> &[Vec<Value>] {
        &self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One column of each kind, named after it.
    fn empty() -> Table {
        Table::new([Kind::Text, Kind::Integer, Kind::Real, Kind::Flag].map(|kind| Column::new(kind.to_string(), kind)))
    }

    /// Every kind of value at its most awkward, in a table that both formats must survive.
    pub(crate) fn sample() -> Table {
        let mut table = empty();
        for (text, integer, real, flag) in [
            ("plain", 0, 0.1 + 0.2, true),
            ("a \"quoted\", broken\nline", u64::MAX, f64::MIN_POSITIVE, false),
            ("übergröße", 1 << 53, -0.0, true),
            ("plain", 7, f64::MAX, false),
        ] {
            table
                .push(vec![Value::Text(text.into()), Value::Integer(integer), Value::Real(real), Value::Flag(flag)])
                .unwrap();
        }
        table.push(vec![Value::Missing; 4]).unwrap();
        table
    }

    fn refusal(row: Vec<Value>) -> String {
        let mut table = empty();
        let error = table.push(row).unwrap_err().to_string();
        assert_eq!(table, empty(), "a refused row leaves no trace");
        error
    }

    #[test]
    fn a_short_row_names_the_first_column_it_lacks() {
        let row = vec![Value::Text("a".into()), Value::Integer(1)];
        assert_eq!(refusal(row), "the row ends before column `real`");
    }

    #[test]
    fn a_long_row_names_the_last_column() {
        assert_eq!(refusal(vec![Value::Missing; 5]), "the row goes on after the last column, `flag`");
    }

    #[test]
    fn a_value_of_another_kind_names_its_column() {
        let row = vec![Value::Missing, Value::Missing, Value::Integer(1), Value::Missing];
        assert_eq!(refusal(row), "column `real` is of kind real, its new value of kind integer");
    }

    #[test]
    fn a_missing_value_fits_every_column() {
        let mut table = empty();
        table.push(vec![Value::Missing; 4]).unwrap();
        assert_eq!(table.rows(), [vec![Value::Missing; 4]]);
    }

    #[test]
    fn a_number_that_is_not_finite_is_missing() {
        let mut table = Table::new([Column::new("real", Kind::Real)]);
        for real in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            table.push(vec![Value::Real(real)]).unwrap();
        }
        assert_eq!(table.rows(), vec![vec![Value::Missing]; 3]);
    }

    #[test]
    #[should_panic(expected = "two columns are named `seed`")]
    fn two_columns_of_one_name_are_refused() {
        Table::new([Column::new("seed", Kind::Integer), Column::new("seed", Kind::Text)]);
    }

    #[test]
    #[should_panic(expected = "at least one column")]
    fn a_table_without_columns_is_refused() {
        Table::new([]);
    }
}
