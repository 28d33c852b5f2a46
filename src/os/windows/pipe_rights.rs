//! Rights of a named pipe: its user alone may open it. By default everybody may read.

use std::io;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::ptr::null_mut;

use tokio::net::windows::named_pipe::{NamedPipeServer, ServerOptions};
use windows_sys::Win32::Foundation::LocalFree;
use windows_sys::Win32::Security::Authorization::{
    ConvertSidToStringSidW, ConvertStringSecurityDescriptorToSecurityDescriptorW, SDDL_REVISION_1,
};
use windows_sys::Win32::Security::{
    GetTokenInformation, PSECURITY_DESCRIPTOR, SECURITY_ATTRIBUTES, TOKEN_QUERY, TOKEN_USER, TokenUser,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

/// Security descriptor that lets one user in.
#[derive(Debug)]
pub(super) struct PipeRights(PSECURITY_DESCRIPTOR);

#[expect(unsafe_code, reason = "the descriptor is made once and only read")]
// SAFETY: the memory belongs to this value alone and does not change.
unsafe impl Send for PipeRights {}

impl PipeRights {
    /// Rights of the user of this process.
    pub(super) fn of_this_user() -> io::Result<Self> {
        let text: Vec<u16> = format!("D:P(A;;GA;;;{})\0", own_sid()?).encode_utf16().collect();
        let mut descriptor = null_mut();
        #[expect(unsafe_code, reason = "the standard library has no rights")]
        // SAFETY: the text ends with a zero, and the pointer is written here alone.
        let made = unsafe {
            ConvertStringSecurityDescriptorToSecurityDescriptorW(
                text.as_ptr(),
                SDDL_REVISION_1,
                &raw mut descriptor,
                null_mut(),
            )
        };
        if made == 0 { Err(io::Error::last_os_error()) } else { Ok(Self(descriptor)) }
    }

    /// Opens an instance of the pipe `name` with these rights, for processes of this machine.
    pub(super) fn open(&self, options: &mut ServerOptions, name: &str) -> io::Result<NamedPipeServer> {
        let length = u32::try_from(size_of::<SECURITY_ATTRIBUTES>()).unwrap_or(0);
        let mut attributes = SECURITY_ATTRIBUTES { nLength: length, lpSecurityDescriptor: self.0, bInheritHandle: 0 };
        options.reject_remote_clients(true);
        #[expect(unsafe_code, reason = "the safe function gives everybody the right to read")]
        // SAFETY: the structure is whole and outlives the call, its descriptor outlives this value.
        unsafe {
            options.create_with_security_attributes_raw(name, (&raw mut attributes).cast())
        }
    }
}

impl Drop for PipeRights {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "the system allocated it")]
        // SAFETY: it is freed once.
        unsafe {
            LocalFree(self.0);
        }
    }
}

/// Identifier of the user of this process, as text: `S-1-5-21-...`.
fn own_sid() -> io::Result<String> {
    /// Bytes of a user's record: a pointer, a number, and an identifier of at most 68 bytes.
    const ROOM: usize = 256;
    #[repr(align(8))]
    struct Record([u8; ROOM]);
    let mut record = Record([0; ROOM]);
    let (mut token, mut length, mut text) = (null_mut(), 0, null_mut());
    #[expect(unsafe_code, reason = "the standard library does not tell the user")]
    // SAFETY: handles and pointers are used only if the call before them has given them. The record
    // has the alignment and the size that the call is told, and it holds what the pointer in it
    // leads to. The text ends with a zero.
    unsafe {
        if OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token) == 0 {
            return Err(io::Error::last_os_error());
        }
        let token = OwnedHandle::from_raw_handle(token);
        let into = record.0.as_mut_ptr();
        let room = u32::try_from(ROOM).unwrap_or(0);
        if GetTokenInformation(token.as_raw_handle(), TokenUser, into.cast(), room, &raw mut length) == 0 {
            return Err(io::Error::last_os_error());
        }
        let user = into.cast::<TOKEN_USER>();
        if ConvertSidToStringSidW((*user).User.Sid, &raw mut text) == 0 {
            return Err(io::Error::last_os_error());
        }
        let length = (0..).take_while(|at| *text.add(*at) != 0).count();
        let sid = String::from_utf16_lossy(std::slice::from_raw_parts(text, length));
        LocalFree(text.cast());
        Ok(sid)
    }
}
