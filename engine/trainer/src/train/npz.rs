//! Arrays of NumPy: files of `numpy.savez`, which are zip archives of `.npy` files.
//!
//! Only what `savez` writes is read: members without compression and below 4 GiB, of 32-bit or
//! 64-bit floats, in C or Fortran order.

use quintain::files::read_bytes;
use std::io;
use std::path::Path;

/// Maximum length of a file in bytes.
const MAX_BYTES: u64 = 1 << 30;
/// Maximum number of dimensions of an array.
const MAX_DIMENSIONS: usize = 8;

/// Lengths of the fixed parts of a zip archive's records.
const END: usize = 22;
const ENTRY: usize = 46;
const LOCAL: usize = 30;

/// Fault of a file of arrays.
#[derive(Debug, thiserror::Error)]
pub enum NpzError {
    /// Failed read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// File that is no archive.
    #[error("no file of `numpy.savez`: {0}")]
    Archive(&'static str),
    /// Compressed member.
    #[error("`{0}` is compressed; write the file with `numpy.savez`")]
    Compressed(String),
    /// Member whose bytes were changed.
    #[error("`{0}` is damaged: its checksum differs; write the file again")]
    Damaged(String),
    /// Member that is no array of floats.
    #[error("`{name}` is no array of 32-bit or 64-bit floats: {fault}; convert it with `astype(\"<f4\")`")]
    Array {
        /// Name of the array.
        name: String,
        /// The fault.
        fault: String,
    },
}

/// Array of floats.
#[derive(Debug, Clone, PartialEq)]
pub struct NpzArray {
    /// Name in the file.
    pub name: String,
    /// Sizes of its dimensions.
    pub shape: Vec<usize>,
    /// Values in C order: the last dimension varies first.
    pub values: Vec<f32>,
}

/// Reads the arrays of a file.
///
/// # Errors
/// [`NpzError`].
pub fn read(path: &Path) -> Result<Vec<NpzArray>, NpzError> {
    parse(&read_bytes(path, MAX_BYTES)?)
}

/// Reads the arrays of the bytes of a file.
///
/// # Errors
/// [`NpzError`].
pub fn parse(bytes: &[u8]) -> Result<Vec<NpzArray>, NpzError> {
    // A comment of up to 65,535 bytes may follow the last record.
    let first = bytes.len().saturating_sub(END + usize::from(u16::MAX));
    let tail = &bytes[first..];
    let end = (0..(tail.len() + 1).saturating_sub(END)).rev().find(|&at| tail[at..].starts_with(b"PK\x05\x06"));
    let end = end.ok_or(NpzError::Archive("no list of members"))?;
    let (count, mut at) = (number(tail, end + 10, 2)?, number(tail, end + 16, 4)?);
    let mut arrays = Vec::new();
    let mut left = bytes.len();
    for _ in 0..count {
        let entry = bytes.get(at..).filter(|rest| rest.starts_with(b"PK\x01\x02"));
        let entry = entry.ok_or(NpzError::Archive("its list of members is damaged"))?;
        let [name, extra, comment] = [28, 30, 32].map(|at| number(entry, at, 2));
        let name = slice(entry, ENTRY, name?)?;
        at += ENTRY + name.len() + extra? + comment?;
        let array = member(bytes, entry, &String::from_utf8_lossy(name))?;
        // A short list could name one large member a thousand times.
        left = left.checked_sub(4 * array.values.len()).ok_or(NpzError::Archive("its members overlap"))?;
        arrays.push(array);
    }
    Ok(arrays)
}

/// Reads the array of an entry in the list of members.
fn member(bytes: &[u8], entry: &[u8], file: &str) -> Result<NpzArray, NpzError> {
    let name = file.strip_suffix(".npy").unwrap_or(file).to_owned();
    let (method, sum) = (number(entry, 10, 2)?, number(entry, 16, 4)?);
    let (length, at) = (number(entry, 24, 4)?, number(entry, 42, 4)?);
    if method != 0 {
        return Err(NpzError::Compressed(name));
    }
    let skipped = LOCAL + number(bytes, at.saturating_add(26), 2)? + number(bytes, at.saturating_add(28), 2)?;
    let content = slice(bytes, at.saturating_add(skipped), length)?;
    if crc32fast::hash(content) as usize != sum {
        return Err(NpzError::Damaged(name));
    }
    parse_array(&name, content)
}

fn slice(bytes: &[u8], at: usize, length: usize) -> Result<&[u8], NpzError> {
    let end = at.checked_add(length);
    end.and_then(|end| bytes.get(at..end)).ok_or(NpzError::Archive("it ends within a member"))
}

/// Decodes a number of up to four bytes.
fn number(bytes: &[u8], at: usize, length: usize) -> Result<usize, NpzError> {
    Ok(slice(bytes, at, length)?.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte)))
}

/// Reads the array of the bytes of an `.npy` file.
///
/// # Errors
/// [`NpzError`].
pub fn parse_array(name: &str, bytes: &[u8]) -> Result<NpzArray, NpzError> {
    let wrong = |fault: &str| NpzError::Array { name: name.to_owned(), fault: fault.to_owned() };
    let version = bytes.strip_prefix(b"\x93NUMPY").and_then(|rest| rest.first());
    let width = if *version.ok_or_else(|| wrong("no `.npy` header"))? == 1 { 2 } else { 4 };
    let length = number(bytes, 8, width)?;
    let header = String::from_utf8_lossy(slice(bytes, 8 + width, length)?);
    let data = &bytes[8 + width + length..];
    let value = |key: &str| {
        let rest = header.split_once(&format!("'{key}':")).map(|(_, rest)| rest.trim_start());
        rest.ok_or_else(|| wrong(&format!("no `{key}` in its header")))
    };
    let width = match value("descr")?.trim_start_matches('\'') {
        descr if descr.starts_with("<f4'") => 4,
        descr if descr.starts_with("<f8'") => 8,
        descr => return Err(wrong(&format!("its type is `{}`", descr.split('\'').next().unwrap_or_default()))),
    };
    let is_fortran = value("fortran_order")?.starts_with("True");
    let sizes = value("shape")?.trim_start_matches('(').split(')').next().unwrap_or_default();
    let sizes = sizes.split(',').map(str::trim).filter(|size| !size.is_empty()).map(str::parse);
    let shape: Vec<usize> = sizes.collect::<Result<_, _>>().map_err(|_| wrong("its shape cannot be read"))?;
    let count = shape.iter().try_fold(1_usize, |product, size| product.checked_mul(*size));
    if shape.len() > MAX_DIMENSIONS || count.and_then(|count| count.checked_mul(width)) != Some(data.len()) {
        return Err(wrong(&format!("{} bytes are not its shape {shape:?}", data.len())));
    }
    let mut values: Vec<f32> = match width {
        4 => data.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
        _ => data.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes) as f32).collect(),
    };
    match (is_fortran, shape.as_slice()) {
        (true, &[rows, columns]) => {
            values = (0..rows * columns).map(|at| values[at % columns * rows + at / columns]).collect();
        }
        (true, [_, _, ..]) => return Err(wrong("Fortran order of more than two dimensions")),
        _ => {}
    }
    Ok(NpzArray { name: name.to_owned(), shape, values })
}

/// Writes arrays as `numpy.savez` does, in C order.
#[cfg(test)]
pub(super) fn write(arrays: &[NpzArray]) -> Vec<u8> {
    let (mut bytes, mut list) = (Vec::new(), Vec::new());
    for NpzArray { name, shape, values } in arrays {
        let sizes: String = shape.iter().map(|size| format!("{size}, ")).collect();
        let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({sizes}), }}");
        header += &" ".repeat(63 - (header.len() + 10) % 64);
        header.push('\n');
        let mut content = b"\x93NUMPY\x01\x00".to_vec();
        content.extend((header.len() as u16).to_le_bytes());
        content.extend(header.bytes());
        content.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        let file = format!("{name}.npy");
        let start = bytes.len() as u32;
        // Common fields of both records: version, flags, method, time, sum, sizes, and name.
        let mut fields = vec![20, 0, 0, 0, 0, 0, 0, 0, 33, 0];
        fields.extend(crc32fast::hash(&content).to_le_bytes());
        (0..2).for_each(|_| fields.extend((content.len() as u32).to_le_bytes()));
        fields.extend((file.len() as u16).to_le_bytes());
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&fields);
        bytes.extend([0; 2]);
        bytes.extend(file.bytes());
        bytes.extend(content);
        list.extend(b"PK\x01\x02\x14\x03");
        list.extend(&fields);
        list.extend([0; 12]);
        list.extend(start.to_le_bytes());
        list.extend(file.bytes());
    }
    let (at, count) = (bytes.len() as u32, arrays.len() as u16);
    let length = list.len() as u32;
    bytes.extend(list);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    (0..2).for_each(|_| bytes.extend(count.to_le_bytes()));
    bytes.extend(length.to_le_bytes());
    bytes.extend(at.to_le_bytes());
    bytes.extend([0; 2]);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrays() -> Vec<NpzArray> {
        let array = |name: &str, shape: &[usize]| {
            let values = (0..shape.iter().product()).map(|at: usize| at as f32 / 4.0 - 1.0).collect();
            NpzArray { name: name.to_owned(), shape: shape.to_vec(), values }
        };
        vec![array("weights", &[3, 5]), array("biases", &[5]), array("one", &[])]
    }

    #[test]
    fn arrays_are_read_as_they_were_written() {
        assert_eq!(parse(&write(&arrays())).expect("arrays"), arrays());
        assert_eq!(parse(&write(&[])).expect("no arrays"), []);
        assert_eq!(crc32fast::hash(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn members_that_overlap_are_refused() {
        let one = NpzArray { name: "a".to_owned(), shape: vec![100], values: vec![0.0; 100] };
        let mut bytes = write(&[one.clone(), one]);
        let places = |mark: &[u8; 4], bytes: &[u8]| -> Vec<usize> {
            (0..bytes.len() - 4).filter(|&at| bytes[at..].starts_with(mark)).collect()
        };
        // Both entries of the list name the first member, and the second member is not there.
        let (members, entries) = (places(b"PK\x03\x04", &bytes), places(b"PK\x01\x02", &bytes));
        bytes[entries[1] + 42..entries[1] + 46].fill(0);
        let mut shorter = [&bytes[..members[1]], &bytes[entries[0]..]].concat();
        let end = shorter.len() - END;
        shorter[end + 16..end + 20].copy_from_slice(&(members[1] as u32).to_le_bytes());
        assert!(matches!(parse(&shorter), Err(NpzError::Archive("its members overlap"))), "{:?}", parse(&shorter));
    }

    /// Doubles and the Fortran order become the same floats in C order.
    #[test]
    fn types_and_orders_are_converted() {
        let file = |descr: &str, order: &str, data: &[u8]| {
            let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': (2, 3), }}\n");
            let mut bytes = b"\x93NUMPY\x02\x00".to_vec();
            bytes.extend((header.len() as u32).to_le_bytes());
            bytes.extend(header.bytes());
            bytes.extend(data);
            bytes
        };
        let wide: Vec<u8> = (0..6).flat_map(|value| f64::from(value).to_le_bytes()).collect();
        let read = |bytes: &[u8]| parse_array("a", bytes);
        assert_eq!(read(&file("<f8", "False", &wide)).expect("doubles").values, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(read(&file("<f8", "True", &wide)).expect("columns").values, [0.0, 2.0, 4.0, 1.0, 3.0, 5.0]);
        for (bytes, says) in [
            (file("<i8", "False", &wide), "its type is `<i8`; convert it"),
            (file("<f8", "False", &wide[1..]), "47 bytes are not its shape [2, 3]"),
            (file("<f4", "False", &wide), "48 bytes are not its shape"),
            (b"\x93NUMPX".to_vec(), "no `.npy` header"),
        ] {
            let error = read(&bytes).expect_err("wrong").to_string();
            assert!(error.contains(says) && error.contains("`a`"), "{error}");
        }
    }

    #[test]
    fn damaged_files_are_refused() {
        let good = write(&arrays());
        for cut in 0..good.len() {
            assert!(parse(&good[..cut]).is_err(), "{cut} bytes");
        }
        let mut changed = good.clone();
        let at = changed.windows(4).position(|four| four == (-1.0_f32).to_le_bytes()).expect("the first value");
        changed[at] ^= 1;
        assert!(parse(&changed).expect_err("damaged").to_string().contains("`weights` is damaged"));
        let mut packed = good;
        let at = packed.windows(4).position(|four| four == b"PK\x01\x02").expect("the list");
        packed[at + 10] = 8;
        assert!(parse(&packed).expect_err("compressed").to_string().contains("write the file with `numpy.savez`"));
    }
}
