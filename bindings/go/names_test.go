package deltawire

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// enums has each enumeration: the prefixes of its constants in Go and in the header, and a function that names a
// number.
var enums = []struct {
	typ, prefix, header string
	name                func(n uint64) string
}{
	{"Kind", "Kind", "EV_", func(n uint64) string { return Kind(n).String() }},
	{"Flags", "Flag", "EVF_", func(n uint64) string { return Flags(n).String() }},
	{"Meta", "Meta", "META_", func(n uint64) string { return Meta(n).String() }},
	{"Limit", "Limit", "LIMIT_", func(n uint64) string { return Limit(n).String() }},
	{"Fault", "Fault", "FAULT_", func(n uint64) string { return Fault(n).String() }},
	{"FinishReason", "Finish", "FINISH_", func(n uint64) string { return FinishReason(n).String() }},
	{"Verdict", "Verdict", "VERDICT_", func(n uint64) string { return Verdict(n).String() }},
	{"Pending", "Pending", "PENDING_", func(n uint64) string { return Pending(n).String() }},
	{"Media", "Media", "MEDIA_", func(n uint64) string { return Media(n).String() }},
	{"Protocol", "Protocol", "PROTOCOL_", func(n uint64) string { return Protocol(n).String() }},
	{"Field", "Field", "M_", func(n uint64) string { return Field(n).String() }},
	{"Owner", "Owner", "OWNER_", func(n uint64) string { return Owner(n).String() }},
	{"Quirk", "Quirk", "QUIRK_", func(n uint64) string { return Quirk(n).String() }},
	{"TokenKind", "Token", "TOKEN_", func(n uint64) string { return TokenKind(n).String() }},
	{"UsageCounts", "Has", "HAS_", func(n uint64) string { return UsageCounts(n).String() }},
}

// constants returns the values of this package's typed constants, by type and name, as "go doc" shows them.
func constants(t *testing.T) map[string]map[string]uint64 {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]map[string]uint64{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || spec.Type == nil || len(spec.Values) != 1 || !ast.IsExported(spec.Names[0].Name) {
				return true
			}
			typ := types.ExprString(spec.Type)
			for _, enum := range enums {
				if enum.typ != typ {
					continue
				}
				v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, types.ExprString(spec.Values[0]))
				if err != nil {
					t.Errorf("the value of %s cannot be seen: %v", spec.Names[0].Name, err)
					continue
				}
				number, _ := constant.Uint64Val(v.Value)
				if found[typ] == nil {
					found[typ] = map[string]uint64{}
				}
				found[typ][spec.Names[0].Name] = number
			}
			return true
		})
	}
	return found
}

// squash makes the names of Go and C comparable: APIError and API_ERROR.
func squash(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// Each number of the header has a Go constant of the same name, whose declaration shows the value, and each Go constant
// has a number of the header. String returns the name without its prefix.
func TestNames(t *testing.T) {
	header, err := os.ReadFile("deltawire.h")
	if err != nil {
		t.Fatal(err)
	}
	defines := map[string]uint64{}
	for _, m := range regexp.MustCompile(`(?m)^#define DELTAWIRE_([A-Z0-9_]+) (\d+)u?$`).FindAllStringSubmatch(string(header), -1) {
		defines[m[1]], _ = strconv.ParseUint(m[2], 10, 64)
	}
	// Constants that a user of this package does not need.
	for _, name := range []string{"EV_COUNT", "EVF_TEXT_SCRATCH", "EVF_AUX_SCRATCH", "EVF_EXTRA_SCRATCH", "EVF_MORE"} {
		if _, ok := defines[name]; !ok {
			t.Errorf("the header has no %s", name)
		}
		delete(defines, name)
	}
	all := constants(t)
	for _, enum := range enums {
		inHeader := map[string]uint64{}
		for name, number := range defines {
			if rest, ok := strings.CutPrefix(name, enum.header); ok {
				inHeader[squash(rest)] = number
			}
		}
		if enum.typ == "Limit" {
			inHeader["none"] = 0
		}
		seen := 0
		for name, number := range all[enum.typ] {
			seen++
			short := squash(strings.TrimPrefix(name, enum.prefix))
			if want, ok := inHeader[short]; !ok || want != number {
				t.Errorf("%s = %d, but %d in the header (%v)", name, number, want, ok)
			}
			delete(inHeader, short)
			if got := enum.name(number); got != strings.TrimPrefix(name, enum.prefix) && enum.typ != "FinishReason" || squash(got) != short {
				t.Errorf("%s is named %s", name, got)
			}
		}
		if len(inHeader) != 0 || seen < 4 {
			t.Errorf("%s: %d constants; not %v", enum.typ, seen, inHeader)
		}
		unknown := fmt.Sprintf("%s(60000)", enum.typ)
		if enum.typ == "Flags" || enum.typ == "UsageCounts" {
			unknown = fmt.Sprintf("%s(0x8000)", enum.typ)
			if got := enum.name(0x8000); got != unknown {
				t.Errorf("an unknown bit: %s", got)
			}
		} else if got := enum.name(60000); got != unknown {
			t.Errorf("an unknown number: %s", got)
		}
	}
	if got := (FlagOpens | FlagCustom | 1<<15).String(); got != "Opens|Custom|Flags(0x8000)" {
		t.Errorf("flags: %s", got)
	}
	if got := (HasPrompt | HasTotal).String(); got != "Prompt|Total" {
		t.Errorf("counts: %s", got)
	}
	if got := fmt.Sprint(new(Event).Kind, NewReader(nil).Event().Kind); got != "None None" {
		t.Errorf("no event: %s", got)
	}
}
