//! A list of objects: an array of maps, or a table.
//!
//! A table is an array of runs `{ names, rows }`: what objects of the same names in turn have in common is written once.
//! An error, which is a map of its own, stands between runs.

use std::ops::Range;

use super::{TooLong, format};

/// A list that is being written.
pub struct List {
    table: Option<Table>,
}

struct Table {
    /// Where its length stands.
    at: usize,
    len: u32,
    run: Option<Run>,
}

struct Run {
    /// Where its names stand.
    names: Range<usize>,
    /// Where its length stands.
    rows_at: usize,
    rows: u32,
}

impl List {
    /// Begins a list of so many objects.
    pub(super) fn begin(len: usize, is_table: bool, out: &mut Vec<u8>) -> Result<Self, TooLong> {
        if !is_table {
            format::push_array_header(len, out)?;
            return Ok(Self { table: None });
        }
        let at = out.len();
        format::open_array(out);
        Ok(Self { table: Some(Table { at, len: 0, run: None }) })
    }

    /// Takes the object that was written from `start` on, of these names.
    #[inline]
    pub(super) fn add(&mut self, start: usize, names: &[u8], out: &mut Vec<u8>) -> Result<(), TooLong> {
        let Some(table) = &mut self.table else { return Ok(()) };
        match &mut table.run {
            Some(run) if &out[run.names.clone()] == names => run.rows += 1,
            _ => table.begin_run(start, names, out)?,
        }
        Ok(())
    }

    /// Takes what is no object and follows.
    pub(super) fn interrupt(&mut self, out: &mut [u8]) {
        if let Some(table) = &mut self.table {
            table.end_run(out);
            table.len += 1;
        }
    }

    /// Ends the list.
    pub(super) fn end(&self, out: &mut [u8]) {
        if let Some(table) = &self.table {
            if let Some(run) = &table.run {
                format::close_array(run.rows_at, run.rows, out);
            }
            format::close_array(table.at, table.len, out);
        }
    }
}

impl Table {
    /// Begins a run with the object that was written from `start` on.
    #[inline(never)]
    fn begin_run(&mut self, start: usize, names: &[u8], out: &mut Vec<u8>) -> Result<(), TooLong> {
        self.end_run(out);
        let object = out.len();
        format::push_map_header(2, out)?;
        format::push_str(b"names", out)?;
        // What is written here comes to stand before the object.
        let names_at = start + out.len() - object;
        out.extend_from_slice(names);
        format::push_str(b"rows", out)?;
        let rows_at = start + out.len() - object;
        format::open_array(out);
        out[start..].rotate_left(object - start);
        self.run = Some(Run { names: names_at..names_at + names.len(), rows_at, rows: 1 });
        self.len += 1;
        Ok(())
    }

    fn end_run(&mut self, out: &mut [u8]) {
        if let Some(Run { rows_at, rows, .. }) = self.run.take() {
            format::close_array(rows_at, rows, out);
        }
    }
}
