//! Rows of one family.

use super::Row;

pub(super) const ROWS: &[Row] = &[];
