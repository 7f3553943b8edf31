//! Workspaces: what parsers need only while they read, in a block of its own that each call is lent.
//!
//! Nothing of it is stored in a parser, and nothing of a parser in it, so the blocks of both may be moved and copied between calls.

use crate::block::{fits, Kept, Shared};
use crate::convert::{aligned, put_out};
use crate::types::*;
use core::ffi::c_void;
use core::mem::{align_of, size_of};
use core::ptr::{addr_of, addr_of_mut};
use deltawire::stream::{Emitter, Machine};
use deltawire::Workspace;

/// How many shapes of events a workspace remembers: as many as the machine of a parser, so that what reads with either is compiled
/// once.
const SHAPES: usize = 2;

/// A workspace's block.
#[repr(C)]
struct Block {
    /// [`MAGIC`], or [`BUSY`] while a call is using it.
    magic: u64,
    workspace: Workspace<SHAPES>,
}

/// What a block that was initialised begins with.
const MAGIC: u64 = 0x0131_6563_6170_7357 ^ size_of::<Block>() as u64;

const BUSY: u64 = !MAGIC;

const _: () = assert!(size_of::<Block>() <= DELTAWIRE_WORKSPACE_SIZE, "DELTAWIRE_WORKSPACE_SIZE is too small");
const _: () = assert!(align_of::<Block>() <= DELTAWIRE_ALIGN, "DELTAWIRE_ALIGN is too small");

/// Makes an empty workspace in the block `mem` of `mem_len` bytes, of which it takes
/// `DELTAWIRE_WORKSPACE_SIZE` at most. `*out`, unless `out` is NULL, becomes
/// `(deltawire_workspace *)mem`. The function overwrites the block: do not call it on a workspace in
/// use.
///
/// Answers OK, E_NULL, E_ALIGN, E_SMALL (less than `deltawire_workspace_size()`), E_RANGE (beyond
/// any memory). On failure nothing is written.
#[no_mangle]
pub unsafe extern "C" fn deltawire_workspace_init(
    mem: *mut c_void,
    mem_len: usize,
    out: *mut *mut deltawire_workspace,
) -> deltawire_status {
    if mem.is_null() {
        return DELTAWIRE_E_NULL;
    }
    ok!(fits(mem as usize, mem_len, size_of::<Block>()));
    // SAFETY: `mem` is writable for `mem_len` bytes, as the caller promises; the rest was checked.
    unsafe {
        mem.cast::<Block>().write(Block { magic: MAGIC, workspace: Workspace::with_slots() });
        put_out(out, mem.cast());
    }
    DELTAWIRE_OK
}

/// The size of a workspace's block, in bytes: at most `DELTAWIRE_WORKSPACE_SIZE`.
#[no_mangle]
pub extern "C" fn deltawire_workspace_size() -> usize {
    size_of::<Block>()
}

/// Overwrites all that a workspace keeps of the streams. Parsers that used it go on as before.
/// `deltawire_reset` of a parser leaves workspaces as they are. Answers OK, E_NULL, E_ALIGN,
/// E_STATE, E_REENTRANT.
#[no_mangle]
pub unsafe extern "C" fn deltawire_workspace_clear(w: *mut deltawire_workspace) -> deltawire_status {
    // SAFETY: a workspace, as the caller promises.
    let open = ok!(unsafe { enter_workspace(w) });
    open.workspace.clear();
    DELTAWIRE_OK
}

/// A workspace that a call is using: its block says busy until this is dropped.
pub(crate) struct OpenWorkspace<'b> {
    magic: *mut u64,
    workspace: &'b mut Workspace<SHAPES>,
}

impl Drop for OpenWorkspace<'_> {
    fn drop(&mut self) {
        // SAFETY: it points to the block that was opened, which outlives this by the contract of `enter_workspace`.
        unsafe { self.magic.write(MAGIC) };
    }
}

/// Enters a workspace for a call.
///
/// # Safety
/// `w` is NULL, or points to writable memory of at least the size of a workspace that no other thread uses and that outlives the
/// result.
pub(crate) unsafe fn enter_workspace<'b>(w: *mut deltawire_workspace) -> Result<OpenWorkspace<'b>, deltawire_status> {
    let block: *mut Block = aligned(w.cast())?;
    // SAFETY: as the caller promises; whatever the bytes are, a number they are. With the magic it was initialised, and no other
    // call is using it: what lies behind the magic is borrowed by this alone.
    unsafe {
        match addr_of!((*block).magic).read() {
            MAGIC => {}
            BUSY => return Err(DELTAWIRE_E_REENTRANT),
            _ => return Err(DELTAWIRE_E_STATE),
        }
        let magic = addr_of_mut!((*block).magic);
        magic.write(BUSY);
        Ok(OpenWorkspace { magic, workspace: &mut *addr_of_mut!((*block).workspace) })
    }
}

/// Where a call has its machine from. A type for each, so that a program that shares no workspace links nothing of them.
pub(crate) trait Source {
    /// Whether it is for parsers with `DELTAWIRE_CFG_SHARED`.
    const SHARES: bool;

    /// What the block of such a parser keeps.
    type Kept<'k>;

    /// Returns `None` if the parser is of the other kind.
    fn kept(kept: Kept<'_>) -> Option<Self::Kept<'_>>;

    /// Lets the machine that reads this window run.
    fn run<R>(
        &mut self,
        kept: Self::Kept<'_>,
        emitter: &mut Emitter,
        window: &[u8],
        run: impl FnOnce(&mut Emitter, &mut Machine) -> R,
    ) -> R;
}

/// The parser's own machine.
pub(crate) struct Own;

impl Source for Own {
    const SHARES: bool = false;

    type Kept<'k> = &'k mut Machine;

    #[inline(always)]
    fn kept(kept: Kept<'_>) -> Option<&mut Machine> {
        match kept {
            Kept::Own(machine) => Some(machine),
            Kept::Shared(_) => None,
        }
    }

    #[inline(always)]
    fn run<R>(
        &mut self,
        machine: &mut Machine,
        emitter: &mut Emitter,
        _: &[u8],
        run: impl FnOnce(&mut Emitter, &mut Machine) -> R,
    ) -> R {
        run(emitter, machine)
    }
}

impl Source for OpenWorkspace<'_> {
    const SHARES: bool = true;

    type Kept<'k> = &'k mut Shared;

    fn kept(kept: Kept<'_>) -> Option<&mut Shared> {
        match kept {
            Kept::Own(_) => None,
            Kept::Shared(shared) => Some(shared),
        }
    }

    fn run<R>(
        &mut self,
        Shared { parked, index }: &mut Shared,
        emitter: &mut Emitter,
        window: &[u8],
        run: impl FnOnce(&mut Emitter, &mut Machine) -> R,
    ) -> R {
        let mut loan = self.workspace.lend(parked, window);
        if emitter.needs_index() {
            loan.resume(index);
        }
        let result = run(emitter, loan.machine());
        if emitter.needs_index() {
            index.clone_from(loan.machine().index());
        }
        result
    }
}
