//! Workspaces: memory that parsers need only while they read, in a block that the caller passes to each call.
//!
//! Between calls, neither the parser's block nor the workspace points to the other, so the caller may move and copy
//! both.

use crate::beside::Keeper;
use crate::block::{fits, BlockMachine};
use crate::convert::{aligned, put_out};
use crate::types::*;
use core::ffi::c_void;
use core::mem::{align_of, size_of};
use core::ptr::{addr_of, addr_of_mut};
use deltawire::stream::{Emitter, Machine};
use deltawire::Workspace;

/// How many templates a workspace has room for: as many as the machine of a parser, so that the code
/// that reads is compiled once for both.
const SLOTS: usize = 2;

/// A workspace's block.
#[repr(C)]
struct WorkspaceBlock {
    /// [`MAGIC`], or [`BUSY`] while a call is using the workspace.
    magic: u64,
    workspace: Workspace<SLOTS>,
}

/// The first word of an initialized block.
const MAGIC: u64 = 0x0131_6563_6170_7357 ^ size_of::<WorkspaceBlock>() as u64;

const BUSY: u64 = !MAGIC;

const _: () = assert!(size_of::<WorkspaceBlock>() <= DELTAWIRE_WORKSPACE_SIZE, "DELTAWIRE_WORKSPACE_SIZE is too small");
const _: () = assert!(align_of::<WorkspaceBlock>() <= DELTAWIRE_ALIGN, "DELTAWIRE_ALIGN is too small");

/// Makes an empty workspace in the block `mem` of `mem_len` bytes. It takes at most
/// `DELTAWIRE_WORKSPACE_SIZE` of them. `*out`, unless `out` is NULL, becomes `(deltawire_workspace
/// *)mem`. The function overwrites the block: do not call it on a workspace in use.
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
    ok!(fits(mem as usize, mem_len, size_of::<WorkspaceBlock>()));
    // SAFETY: `mem` is writable for `mem_len` bytes, as the caller promises; the rest was checked.
    unsafe {
        mem.cast::<WorkspaceBlock>().write(WorkspaceBlock { magic: MAGIC, workspace: Workspace::with_slots() });
        put_out(out, mem.cast());
    }
    DELTAWIRE_OK
}

/// The size of a workspace's block, in bytes: at most `DELTAWIRE_WORKSPACE_SIZE`.
#[no_mangle]
pub extern "C" fn deltawire_workspace_size() -> usize {
    size_of::<WorkspaceBlock>()
}

/// Overwrites everything that a workspace keeps of the streams. Parsers that used it go on as
/// before. `deltawire_reset` of a parser does not clear a workspace. Answers OK, E_NULL, E_ALIGN,
/// E_STATE, E_REENTRANT.
#[no_mangle]
pub unsafe extern "C" fn deltawire_workspace_clear(w: *mut deltawire_workspace) -> deltawire_status {
    // SAFETY: a workspace, as the caller promises.
    let open = ok!(unsafe { enter_workspace(w) });
    open.workspace.clear();
    DELTAWIRE_OK
}

/// A workspace that a call is using. The block refuses other calls until this is dropped.
pub(crate) struct OpenWorkspace<'b> {
    magic: *mut u64,
    workspace: &'b mut Workspace<SLOTS>,
}

impl Drop for OpenWorkspace<'_> {
    fn drop(&mut self) {
        // SAFETY: `magic` points to the block, which outlives this by the contract of `enter_workspace`.
        unsafe { self.magic.write(MAGIC) };
    }
}

/// Enters a workspace for a call.
///
/// # Safety
/// `w` is NULL, or points to writable memory of at least the size of a workspace that no other
/// thread uses and that outlives the result.
pub(crate) unsafe fn enter_workspace<'b>(w: *mut deltawire_workspace) -> Result<OpenWorkspace<'b>, deltawire_status> {
    let block: *mut WorkspaceBlock = aligned(w.cast())?;
    // SAFETY: as the caller promises; any bytes are a valid number. A block with the magic was initialized, and no
    // other call is using it: nothing else borrows the bytes after the magic.
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

/// Where a call gets its machine from. Each source is a type, so that a program without workspaces
/// links no code for them.
pub(crate) trait MachineSource {
    /// Whether this is the source for parsers with `DELTAWIRE_CFG_SHARED`.
    const SHARES: bool;

    /// The machine in the block of such a parser.
    type Held<'k>;

    /// Returns what the block holds, or `None` if the parser needs the other source.
    fn machine(machine: BlockMachine<'_>) -> Option<Self::Held<'_>>;

    /// Calls `run` with the machine that reads the bytes of `window`, and with the message that takes the deltas.
    fn run<R>(
        &mut self,
        machine: Self::Held<'_>,
        emitter: &mut Emitter,
        window: &[u8],
        run: impl FnOnce(&mut Emitter, &mut Machine, Option<&mut dyn Keeper>) -> R,
    ) -> R;
}

/// The source of a parser that has a machine of its own.
pub(crate) struct Own;

impl MachineSource for Own {
    const SHARES: bool = false;

    type Held<'k> = &'k mut Machine;

    #[inline(always)]
    fn machine(machine: BlockMachine<'_>) -> Option<&mut Machine> {
        match machine {
            BlockMachine::Own(machine) => Some(machine),
            BlockMachine::Bare(_) => None,
        }
    }

    #[inline(always)]
    fn run<R>(
        &mut self,
        machine: &mut Machine,
        emitter: &mut Emitter,
        _: &[u8],
        run: impl FnOnce(&mut Emitter, &mut Machine, Option<&mut dyn Keeper>) -> R,
    ) -> R {
        run(emitter, machine, None)
    }
}

impl MachineSource for OpenWorkspace<'_> {
    const SHARES: bool = true;

    type Held<'k> = &'k mut Machine<0>;

    fn machine(machine: BlockMachine<'_>) -> Option<&mut Machine<0>> {
        match machine {
            BlockMachine::Own(_) => None,
            BlockMachine::Bare(machine) => Some(machine),
        }
    }

    fn run<R>(
        &mut self,
        machine: &mut Machine<0>,
        emitter: &mut Emitter,
        window: &[u8],
        run: impl FnOnce(&mut Emitter, &mut Machine, Option<&mut dyn Keeper>) -> R,
    ) -> R {
        let mut loan = self.workspace.lend(machine, window);
        if emitter.needs_index() {
            loan.resume();
        }
        let result = run(emitter, loan.machine(), None);
        if emitter.needs_index() {
            loan.keep_index();
        }
        result
    }
}
