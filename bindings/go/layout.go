package deltawire

// #include "bridge.h"
import "C"

import "unsafe"

// layout has the sizes and versions that the tests compare with the header and the library. Tests cannot use cgo themselves.
type layout struct {
	event, config, end, usage, result   int // sizes as Go sees them
	eventText, eventStart, configErrors int // offsets
	state, smallest, messageState       int // of the header, of the library, of the header
	smallestMessage                     int
	version, libVersion                 uint32
	abi, libABI                         uint32
}

func layoutNow() layout {
	var (
		event  C.deltawire_event
		config C.deltawire_config
	)
	return layout{
		event:           int(unsafe.Sizeof(event)),
		config:          int(unsafe.Sizeof(config)),
		end:             int(unsafe.Sizeof(C.deltawire_end{})),
		usage:           int(unsafe.Sizeof(C.deltawire_usage{})),
		result:          int(unsafe.Sizeof(C.deltawire_batch_result{})),
		eventText:       int(unsafe.Offsetof(event.text_off)),
		eventStart:      int(unsafe.Offsetof(event.start)),
		configErrors:    int(unsafe.Offsetof(config.errors)),
		state:           C.DELTAWIRE_STATE_SIZE,
		smallest:        int(C.deltawire_block_size(nil, 0)),
		messageState:    C.DELTAWIRE_MESSAGE_STATE_SIZE,
		smallestMessage: int(C.deltawire_message_size(nil, 0)),
		version:         C.DELTAWIRE_VERSION_MAJOR*1000000 + C.DELTAWIRE_VERSION_MINOR*1000 + C.DELTAWIRE_VERSION_PATCH,
		libVersion:      uint32(C.deltawire_version()),
		abi:             C.DELTAWIRE_ABI,
		libABI:          uint32(C.deltawire_abi()),
	}
}

// libraryName returns the name that the library has for a quirk.
func libraryName(q Quirk) string { return C.GoString(C.deltawire_quirk_name(C.uint32_t(q))) }
