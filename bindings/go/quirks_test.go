package deltawire

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
)

// Runs each case of ../../tests/quirks, cut everywhere, with memory of several sizes.

type quirkCase struct {
	title   string
	opts    []Option
	storage int // -1: the case sets none
	input   []byte
	log     []string
	stop    string // the error that stops strict mode; "": none
}

func quirkCases(t testing.TB) []quirkCase {
	needProject(t)
	paths, err := filepath.Glob("../../tests/quirks/*.case")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var cases []quirkCase
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(text), "\n") {
			if line == "" || line[0] == '#' {
				continue
			}
			word, rest, _ := strings.Cut(line, " ")
			if word == "case" {
				cases = append(cases, quirkCase{title: strings.TrimSuffix(filepath.Base(path), ".case") + " " + rest, storage: -1})
				continue
			}
			c := &cases[len(cases)-1]
			fault := error(nil)
			switch word {
			case "reads": // needs the reader of a protocol, and this library has all
			case "option":
				for _, option := range strings.Fields(rest) {
					fault = errors.Join(fault, c.option(option))
				}
			case "in":
				c.input = append(c.input, unescape(rest)...)
			case "repeat":
				times, bytesOf, _ := strings.Cut(rest, " ")
				count, err := strconv.Atoi(times)
				fault = err
				c.input = append(c.input, bytes.Repeat(unescape(bytesOf), count)...)
			case "log":
				c.log = append(c.log, rest)
			case "strict":
				if rest != "passes" {
					c.stop = "stop " + rest
				}
			default:
				fault = errors.New("a word that is not known")
			}
			if fault != nil {
				t.Fatalf("%s:%d: %v", path, n+1, fault)
			}
		}
	}
	return cases
}

func (c *quirkCase) option(option string) error {
	name, text, _ := strings.Cut(option, "=")
	number, err := strconv.Atoi(text)
	switch name {
	case "framing":
		c.opts, err = append(c.opts, WithSpec()), nil
	case "snapshots":
		c.opts, err = append(c.opts, WithSnapshots()), nil
	case "validate":
		c.opts, err = append(c.opts, WithStrictJSON()), nil
	case "max_event_len":
		c.opts = append(c.opts, WithMaxEventLen(number))
	case "max_id_len":
		c.opts = append(c.opts, WithMaxIDLen(number))
	case "max_depth":
		c.opts = append(c.opts, WithMaxDepth(number))
	case "storage":
		c.storage = number
	default:
		err = fmt.Errorf("unknown option %s", name)
	}
	return err
}

func unescape(s string) []byte {
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b = append(b, s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case '0':
			b = append(b, 0)
		case 'x':
			n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
			if err != nil {
				panic(err)
			}
			b = append(b, byte(n))
			i += 2
		default:
			b = append(b, s[i])
		}
	}
	return b
}

// memory is the initial memory of a reader.
type memory struct {
	name                  string
	block, array, scratch int
	blockGrows, mayGrow   bool
}

func (m memory) option() Option {
	return func(s *settings) {
		s.block, s.array, s.scratch, s.mayGrow = m.block, m.array, m.scratch, m.mayGrow
		if !m.blockGrows {
			s.config.flags &^= 1 // DELTAWIRE_CFG_GROW
		}
	}
}

// memories returns the sizes of memory to read the case with.
func (c *quirkCase) memories() []memory {
	if c.storage >= 0 {
		return []memory{
			{"fixed", c.storage, 64, 4096, false, true},
			{"fixed, least", c.storage, 1, 64, false, false},
		}
	}
	return []memory{
		{"grows", 512, 64, 4096, true, true},
		{"grows, least", 512, 1, 64, true, false},
		{"fixed", 8192, 3, 100, false, false},
	}
}

func difference(got, want []string) string {
	for i := 0; ; i++ {
		g, w := "nothing", "nothing"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w || i > len(got) {
			return fmt.Sprintf("line %d:\n   got %.300s\n  want %.300s", i+1, g, w)
		}
	}
}

func TestQuirkCases(t *testing.T) {
	cases := quirkCases(t)
	runs := 0
	for _, c := range cases {
		if !checkCase(t, &c, &runs) {
			t.Errorf("%s: %s", c.title, escaped(c.input[:min(300, len(c.input))]))
		}
	}
	t.Logf("%d cases, %d runs", len(cases), runs)
	if len(cases) < 200 {
		t.Errorf("only %d cases", len(cases))
	}
}

func checkCase(t *testing.T, c *quirkCase, runs *int) bool {
	want := c.log
	wantStrict := want
	length := len(c.input)
	all := [][]int{nil, cutEvery(1, length), cutEvery(7, length), cutEvery(1448, length)}
	for at := 1; at < length && length <= 1000 && !testing.Short(); at++ {
		all = append(all, []int{at})
	}
	for _, m := range c.memories() {
		for i, cuts := range all {
			src := &pieces{input: c.input, cuts: cuts}
			r := NewReader(src, append(slices.Clone(c.opts), m.option(), logged())...)
			if i%2 == 1 {
				// The source may return io.EOF together with the last bytes.
				r.Reset(iotest.DataErrReader(src))
			}
			got := logOf(r)
			*runs++
			if !slices.Equal(got, want) {
				t.Errorf("%s, cut at %v: %s", m.name, cuts, difference(got, want))
				return false
			}
			r = NewReader(&pieces{input: c.input, cuts: cuts}, append(slices.Clone(c.opts), m.option(), logged(), WithStrict())...)
			got = logOf(r)
			*runs++
			if c.stop != "" && i == 0 {
				// The first run tells how much of the log comes before the stop.
				wantStrict = append(slices.Clone(want[:min(len(got)-1, len(want))]), c.stop)
			}
			if !slices.Equal(got, wantStrict) {
				t.Errorf("strict, %s, cut at %v: %s", m.name, cuts, difference(got, wantStrict))
				return false
			}
		}
	}
	return true
}

// Each quirk is also emitted as an event, at most as often as it is counted.
func TestQuirkEvents(t *testing.T) {
	met := map[Quirk]bool{}
	for _, c := range quirkCases(t) {
		r := NewReader(bytes.NewReader(c.input), append(c.opts, WithEvents(KindQuirk))...)
		emitted := map[Quirk]uint64{}
		for r.Next() {
			q, ok := r.Event().Quirk()
			if !ok {
				t.Fatalf("%s: a %v that was not asked for", c.title, r.Event().Kind)
			}
			emitted[q]++
		}
		for _, q := range Quirks() {
			if emitted[q] > r.QuirkCount(q) {
				t.Errorf("%s: %v was emitted %d times and counted %d", c.title, q, emitted[q], r.QuirkCount(q))
			}
			met[q] = met[q] || emitted[q] > 0
		}
	}
	for _, q := range Quirks() {
		if q.Code() == "" || q.Text() == "" || !slices.Equal(QuirksOf(q.String()), []Quirk{q}) {
			t.Errorf("quirk %d has no names", q)
		}
		// A parser passes over log probabilities; only a message finds it.
		if !met[q] && q != QuirkNotANumber {
			t.Errorf("no case has %v", q)
		}
	}
}
