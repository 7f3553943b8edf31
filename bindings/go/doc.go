/*
Package deltawire reads LLM token streams: the server-sent events of chat completions, OpenAI Responses, Anthropic Messages
and Gemini, and of servers compatible with them. It turns bytes, in reads of any size, into text, tool calls, reasoning,
finish reasons, usage and errors.

	type call struct{ choice, number uint32 } // calls are numbered by choice
	texts, arguments := map[uint32]string{}, map[call]string{}
	r := deltawire.NewReader(resp.Body)
	for r.Next() {
		switch e := r.Event(); e.Kind {
		case deltawire.KindContent:
			texts[e.Choice] += e.TextString()
		case deltawire.KindToolArguments:
			arguments[call{e.Choice, e.Call}] += e.TextString()
		}
	}
	return r.Err() // nil if the response is complete; otherwise ErrTruncated, ErrIncomplete, an *APIError, …

[Reader.Err] is the one check of whether all of the response arrived: it returns nil only then. The finish reason says
whether the model finished its answer: [FinishLength] and [FinishContentFilter] cut the answer itself. A range loop over
[Reader.Events] ends with the same error.

A function call without arguments has no KindToolArguments: take its arguments as {}. Only an [Assembler] ([WithAssembler])
joins the arguments that Gemini sends by path. At the end it has complete calls, whatever the protocol.

If another part of the program reads the bytes, make the reader without a source. [Reader.Tee] watches a body that a proxy
passes on, [Reader.Writer] is an [io.Writer] for [io.TeeReader] or [io.MultiWriter], and [Reader.Feed] takes bytes. Package
adapter fits readers into openai-go and other clients.

# Cost and memory

The package is a thin layer over the C interface of deltawire, which is written in Rust. Each read of the source is one
call into C. That call writes an array of events, whose texts are views of the bytes that were read. [NewReader] allocates,
and so does an event that is longer than all before it; other events cost no allocation. All memory belongs to Go: C keeps no
pointer to it and calls no Go function, so there is nothing to close and no finalizer.

Because each read is a call into C, the package is slower than a reader in plain Go if a source returns a few bytes at a
time. From about fifty bytes a read it is faster; its benchmarks show that.

# Building

The package needs cgo (CGO_ENABLED=1), a C compiler, and the library. By default the library is the archive
libdeltawire_GOOS_GOARCH.a in the folder of the package. A release contains the archives for linux/amd64 and linux/arm64;
"make go-lib" in a checkout builds the archive for its machine. With the build tag pkgconfig the package links the library
that pkg-config finds. It links nothing else; fully static programs work, and so does "go mod vendor".
*/
package deltawire
