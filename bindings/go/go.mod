module deltawire.dev/go

go 1.24
