/*
Package deltawire reads LLM token streams: the server-sent events of chat.completion.chunk that OpenAI and all who took
over its API send. Bytes go in, in reads of any size; text, tool calls, reasoning, finish reasons, usage and errors come
out.

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
	if err := r.Err(); err != nil {
		return err // the source failed
	}
	return r.End().Err() // nil, ErrTruncated, ErrIncomplete, an *APIError, …

# How it is made

It is a thin layer over the C interface of deltawire, which is written in Rust. There is one call into C for each read of
the source: events come in an array, and their texts are views of the bytes that were read. A [Reader] allocates when it
is made and when something longer comes than before; an event costs no allocation. All memory is Go's, C keeps no pointer
to it and calls nothing back, so that there is nothing to close and no finalizer.

A source that gives a few bytes at a time is read slower than plain Go reads it: each read is a call into C. From some
fifty bytes a read on it is the other way round; the benchmarks of the package show it.

# Building

It needs cgo (CGO_ENABLED=1), a C compiler, and the library: an archive in lib/GOOS_GOARCH, which "make go-lib" puts
there (a distribution of the project has it), or, with the build tag pkgconfig, what pkg-config says of deltawire. Nothing
else is linked; fully static programs work.
*/
package deltawire
