//! Job objects, which hold processes and all that they start, and the start of processes that wait
//! to be put into one.

use std::io;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::sync::OnceLock;

use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenThread, ResumeThread, THREAD_SUSPEND_RESUME};

/// Job object: processes that end together. What they start belongs to it, too.
#[derive(Debug)]
pub(super) struct Job(pub(super) OwnedHandle);

impl Job {
    /// A job whose processes end when its last handle is closed, with the process that holds it at
    /// the latest.
    pub(super) fn new() -> Option<Self> {
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        let size = u32::try_from(size_of_val(&limits)).ok()?;
        #[expect(unsafe_code, reason = "the standard library has no job objects")]
        // SAFETY: the new handle is owned here alone, and the structure is of the size given.
        unsafe {
            let job = owned(CreateJobObjectW(std::ptr::null(), std::ptr::null())).ok()?;
            let (handle, limits) = (job.as_raw_handle(), std::ptr::from_ref(&limits).cast());
            (SetInformationJobObject(handle, JobObjectExtendedLimitInformation, limits, size) != 0).then_some(Self(job))
        }
    }

    pub(super) fn add(&self, process: HANDLE) -> bool {
        #[expect(unsafe_code, reason = "the standard library has no job objects")]
        // SAFETY: both handles are open.
        unsafe {
            AssignProcessToJobObject(self.0.as_raw_handle(), process) != 0
        }
    }
}

/// Job of this process and all that it starts. The system closes its handle when this process
/// ends, however it ends, and then ends the others. `None` if the system refuses.
///
/// It exists for the whole life of the process, so it is not a state that a run could change.
pub(super) fn own_job() -> Option<&'static Job> {
    static OWN: OnceLock<Option<Job>> = OnceLock::new();
    #[expect(unsafe_code, reason = "the standard library has no handle of this process")]
    // SAFETY: the function has no conditions.
    let this = || unsafe { GetCurrentProcess() };
    OWN.get_or_init(|| Job::new().filter(|job| job.add(this()))).as_ref()
}

/// Takes over a handle that a function of the system returned, or its error.
///
/// # Safety
/// The handle is new, and owned nowhere else.
#[expect(unsafe_code, reason = "functions of the system return plain handles")]
pub(super) unsafe fn owned(handle: HANDLE) -> io::Result<OwnedHandle> {
    if handle.is_null() || handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the caller promises it.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// Starts a process that was made suspended. Its first thread is looked up among all, because the
/// standard library keeps that thread's handle to itself (`main_thread_handle` is unstable).
pub(super) fn resume(pid: u32) -> io::Result<()> {
    let size = u32::try_from(size_of::<THREADENTRY32>()).unwrap_or(0);
    let mut thread = THREADENTRY32 { dwSize: size, ..THREADENTRY32::default() };
    #[expect(unsafe_code, reason = "the standard library has no threads of other processes")]
    // SAFETY: the handles are open while they are used, and the structure has the size that it
    // states.
    unsafe {
        let all = owned(CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0))?;
        let mut is_one = Thread32First(all.as_raw_handle(), &raw mut thread);
        while is_one != 0 && thread.th32OwnerProcessID != pid {
            is_one = Thread32Next(all.as_raw_handle(), &raw mut thread);
        }
        if is_one == 0 {
            return Err(io::Error::last_os_error());
        }
        let first = owned(OpenThread(THREAD_SUSPEND_RESUME, 0, thread.th32ThreadID))?;
        if ResumeThread(first.as_raw_handle()) == u32::MAX { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}
