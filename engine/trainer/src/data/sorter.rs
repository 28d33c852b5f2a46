//! External sorting. Records are distributed over files by the top bits of their keys. Each file is
//! sorted in memory, or distributed again if it is too large.

use super::error::DataError;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Key bits per level; a level has 2 to this power files.
const BITS: u32 = 6;
/// Bytes before each record in a file: key and length.
const HEAD: usize = 12;
/// Bytes per record in memory besides the record itself: key, start and end.
const HEAD_IN_MEMORY: usize = 24;
const BUFFER: usize = 1 << 16;

/// Collects records and returns them in order of rising keys. Records with the same key keep their
/// order.
///
/// Its temporary files are unnamed, so that none remains if the program is killed.
#[derive(Debug)]
pub struct Sorter {
    folder: PathBuf,
    memory: usize,
    files: Vec<BufWriter<File>>,
}

impl Sorter {
    /// Creates a sorter that keeps all records in temporary files in `folder`, and holds about
    /// `memory` bytes of them in memory while it sorts.
    ///
    /// # Errors
    /// Fails if a temporary file cannot be created or written.
    pub fn new(folder: &Path, memory: usize) -> Result<Sorter, DataError> {
        let files = create(folder)?;
        Ok(Sorter { folder: folder.to_owned(), memory, files })
    }

    /// # Errors
    /// Fails if a temporary file cannot be created or written.
    pub fn push(&mut self, key: u64, record: &[u8]) -> Result<(), DataError> {
        put(&mut self.files[(key >> (64 - BITS)) as usize], key, record)
            .map_err(DataError::io(&self.folder, "write a temporary file in it"))
    }

    /// Passes all records to `each` in sorted order.
    ///
    /// # Errors
    /// Fails as `each` does, or if a temporary file cannot be created, read or written.
    pub fn finish(self, each: &mut impl FnMut(u64, &[u8]) -> Result<(), DataError>) -> Result<(), DataError> {
        hand_out(&self.folder, self.files, self.memory, 64 - BITS, each)
    }
}

fn create(folder: &Path) -> Result<Vec<BufWriter<File>>, DataError> {
    (0..1 << BITS)
        .map(|_| {
            let file = tempfile::tempfile_in(folder).map_err(DataError::io(folder, "create a temporary file in it"))?;
            Ok(BufWriter::with_capacity(BUFFER, file))
        })
        .collect()
}

/// Returns a reader at the start of the written bytes, and their number.
fn rewind(file: BufWriter<File>) -> io::Result<(BufReader<File>, u64)> {
    let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    let length = file.stream_position()?;
    file.rewind()?;
    Ok((BufReader::with_capacity(BUFFER, file), length))
}

fn put(file: &mut impl Write, key: u64, record: &[u8]) -> io::Result<()> {
    let length = u32::try_from(record.len()).map_err(io::Error::other)?;
    file.write_all(&key.to_le_bytes())?;
    file.write_all(&length.to_le_bytes())?;
    file.write_all(record)
}

/// Appends the next record of a file to `record` and returns its key.
fn take(file: &mut impl Read, record: &mut Vec<u8>) -> io::Result<u64> {
    let (mut key, mut length) = ([0; 8], [0; 4]);
    file.read_exact(&mut key)?;
    file.read_exact(&mut length)?;
    let (key, length) = (u64::from_le_bytes(key), u32::from_le_bytes(length) as usize);
    let before = record.len();
    record.resize(before + length, 0);
    file.read_exact(&mut record[before..])?;
    Ok(key)
}

/// Passes the buckets of a level to `each` in order. The keys of a bucket agree above bit `shift`.
fn hand_out(
    folder: &Path,
    files: Vec<BufWriter<File>>,
    memory: usize,
    shift: u32,
    each: &mut impl FnMut(u64, &[u8]) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let unread = || DataError::io(folder, "read a temporary file in it");
    for file in files {
        let (mut input, length) = rewind(file).map_err(unread())?;
        let mut record = Vec::new();
        // An upper bound: empty records need the most memory per byte of the file.
        if length.saturating_mul((HEAD_IN_MEMORY + HEAD) as u64) / HEAD as u64 <= memory as u64 {
            let mut records = Vec::new();
            let mut read = 0;
            while read < length {
                let start = record.len();
                let key = take(&mut input, &mut record).map_err(unread())?;
                read += (HEAD + record.len() - start) as u64;
                records.push((key, start, record.len()));
            }
            records.sort_by_key(|&(key, _, _)| key);
            for (key, start, end) in records {
                each(key, &record[start..end])?;
            }
        } else {
            // If no bit is left to distribute by, all keys are the same.
            let deal = shift.checked_sub(BITS).or((shift > 0).then_some(0));
            let mut files = if deal.is_some() { create(folder)? } else { Vec::new() };
            let mut read = 0;
            while read < length {
                record.clear();
                let key = take(&mut input, &mut record).map_err(unread())?;
                read += (HEAD + record.len()) as u64;
                match deal {
                    Some(deal) => put(&mut files[(key >> deal) as usize & ((1 << BITS) - 1)], key, &record)
                        .map_err(DataError::io(folder, "write a temporary file in it"))?,
                    None => each(key, &record)?,
                }
            }
            if let Some(deal) = deal {
                hand_out(folder, files, memory, deal, each)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use destrier::types::SplitMix64;

    /// Sorts records with these keys under a memory limit, and compares with a sort in memory.
    fn check(keys: &[u64], memory: usize) {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(folder.path(), memory).unwrap();
        let mut expected = Vec::new();
        for (number, &key) in keys.iter().enumerate() {
            let record = vec![number as u8; number % 7];
            sorter.push(key, &record).unwrap();
            expected.push((key, record));
        }
        expected.sort_by_key(|(key, _)| *key);
        let mut found = Vec::new();
        sorter
            .finish(&mut |key, record| {
                found.push((key, record.to_vec()));
                Ok(())
            })
            .unwrap();
        assert!(found == expected, "{} keys, {memory} bytes", keys.len());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn records_come_by_rising_key() {
        let mut random = SplitMix64::from_seeds(&[1]);
        let mixed: Vec<u64> = (0..5000).map(|_| random.next_u64()).collect();
        let alike: Vec<u64> = (0..500).map(|number| 42 + (number & 1)).collect();
        for memory in [0, 100, 3000, 1 << 30] {
            check(&[], memory);
            check(&mixed[..300.min(mixed.len())], memory.max(60));
            check(&alike, memory);
        }
        check(&mixed, 2000);
        check(&mixed, 1 << 20);
    }
}
