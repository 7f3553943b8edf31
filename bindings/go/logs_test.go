package deltawire

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rustLogs returns the folder DELTAWIRE_LOGS, which has what Rust made of streams, and the streams. Without it the test is
// skipped.
func rustLogs(t *testing.T) (folder string, streams []string) {
	folder = os.Getenv("DELTAWIRE_LOGS")
	if folder == "" {
		t.Skip("DELTAWIRE_LOGS is not set")
	}
	streams, err := filepath.Glob(filepath.Join(folder, "streams", "*"))
	if err != nil || len(streams) < 15 {
		t.Fatalf("%d streams in %s: %v", len(streams), folder, err)
	}
	return folder, streams
}

// TestRustLogs compares each log in DELTAWIRE_LOGS, which the Rust library wrote, with the log that this package writes
// of the same stream, in reads, arrays and scratch memory of several sizes.
func TestRustLogs(t *testing.T) {
	folder, names := rustLogs(t)
	runs := 0
	for _, path := range names {
		stream, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		log, err := os.ReadFile(filepath.Join(folder, filepath.Base(path)+".log"))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Split(strings.TrimSuffix(string(log), "\n"), "\n")
		for _, size := range []int{1, 7, 1448, len(stream) + 1} {
			for _, m := range []memory{{"one", 512, 1, 64, true, true}, {"two", 512, 2, 4096, true, true}, {"three", 512, 3, 64, true, true}, {"many", 512, 64, 4096, true, true}} {
				if size < 7 && len(stream) > 200_000 && m.array < 64 {
					continue // takes long and covers nothing new
				}
				r := NewReader(bytes.NewReader(stream), WithMaxEventLen(4<<20), WithReadSize(size), m.option(), logged())
				got := logOf(r)
				runs++
				if !slices.Equal(got, want) {
					t.Errorf("%s in reads of %d, %s: %s", filepath.Base(path), size, m.name, difference(got, want))
				}
			}
		}
	}
	t.Logf("%d streams, %d runs", len(names), runs)
	if len(names) < 15 {
		t.Errorf("only %d streams", len(names))
	}
}
