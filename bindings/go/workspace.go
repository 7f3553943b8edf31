package deltawire

// #cgo noescape deltawire_batch_with
// #cgo nocallback deltawire_batch_with
// #cgo noescape deltawire_batch_finish_with
// #cgo nocallback deltawire_batch_finish_with
// #cgo noescape deltawire_message_batch
// #cgo nocallback deltawire_message_batch
// #include "bridge.h"
import "C"

import (
	"sync"
	"unsafe"
)

// Workspace is memory that readers share ([WithWorkspace]): shapes of events that were read, which are their bytes
// without the texts that change. Events from one upstream are the same in most of their bytes, so readers that share a
// workspace are smaller, and the shared memory stays in the processor's cache, however many readers there are. Sharing
// changes the cost, never the events. A workspace remembers two shapes, so use one workspace for each upstream.
//
// Any goroutines may read with a workspace. A reader locks it while it parses the bytes of a read, not while it waits
// for its source. Goroutines that read much at the same time are faster with a workspace each.
//
// One workspace serves one trust domain. It contains bytes of the streams that were read with it, such as names of
// tools, until other bytes replace them or [Workspace.Clear] overwrites them. No reader emits bytes of another stream.
// But an event whose shape is remembered takes less time, and whoever writes a stream can measure that.
type Workspace struct {
	mu    sync.Mutex
	block []uint64
}

// NewWorkspace returns an empty workspace. It holds no C memory, so there is nothing to close. It must not be copied.
func NewWorkspace() *Workspace {
	w := &Workspace{block: make([]uint64, words(C.deltawire_workspace_size()))}
	if C.deltawire_workspace_init(unsafe.Pointer(&w.block[0]), C.size_t(len(w.block)*8), nil) != C.DELTAWIRE_OK {
		panic("deltawire: a workspace cannot be made") // unreachable: the block has its size and alignment
	}
	return w
}

// Clear overwrites everything that the workspace keeps of the streams. Readers that share it go on as before.
func (w *Workspace) Clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	C.deltawire_workspace_clear(w.p())
}

// p returns the block for C; nil without a workspace.
func (w *Workspace) p() *C.deltawire_workspace {
	if w == nil {
		return nil
	}
	return (*C.deltawire_workspace)(unsafe.Pointer(&w.block[0]))
}

// WithWorkspace makes the reader share w, which [NewWorkspace] made, with other readers.
func WithWorkspace(w *Workspace) Option {
	return func(s *settings) {
		if w == nil || w.block == nil {
			s.wrong("WithWorkspace: NewWorkspace did not make this Workspace")
			return
		}
		s.workspace = w
		s.config.flags |= C.DELTAWIRE_CFG_SHARED
	}
}

// batch calls C once, to read r.in or to end the stream.
func (r *Reader) batch() C.deltawire_status {
	events, cap := &r.events[0], C.size_t(len(r.events))
	scratch, room := unsafe.Pointer(&r.scratch[0]), C.size_t(len(r.scratch))
	data, size := unsafe.Pointer(unsafe.SliceData(r.in)), C.size_t(len(r.in))
	w, a := r.settings.workspace, r.settings.assembler
	if w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
	}
	switch {
	case a != nil && r.finishing:
		return C.deltawire_message_batch_finish(a.p(), r.p(), w.p(), events, cap, scratch, room, r.result)
	case a != nil:
		return C.deltawire_message_batch(a.p(), r.p(), w.p(), data, size, events, cap, scratch, room, r.result)
	case w != nil && r.finishing:
		return C.deltawire_batch_finish_with(r.p(), w.p(), events, cap, scratch, room, r.result)
	case w != nil:
		return C.deltawire_batch_with(r.p(), w.p(), data, size, events, cap, scratch, room, r.result)
	case r.finishing:
		return C.deltawire_batch_finish(r.p(), events, cap, scratch, room, r.result)
	default:
		return C.deltawire_batch(r.p(), data, size, events, cap, scratch, room, r.result)
	}
}
