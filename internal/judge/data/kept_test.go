package data

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/machine"
)

// A copy preserves the files and links of its source. File systems without symbolic links, modes or
// owners preserve less.
func TestACopyKeepsWhatItsSourceKept(t *testing.T) {
	whole := kept{link: keptFile, file: true, whole: true, mode: 0o751, uid: uint32(os.Getuid()), sure: true}
	without := func(change func(*kept)) kept {
		k := whole
		change(&k)
		return k
	}
	remove := func(names ...string) func(dir string) error {
		return func(dir string) error {
			for _, name := range names {
				if err := os.Remove(filepath.Join(dir, name)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	chmod := func(dir string) error { return os.Chmod(filepath.Join(dir, keptFile), 0o644) }
	for _, c := range []struct {
		name     string
		source   kept
		change   func(dir string) error
		violates string
		remark   bool
	}{
		{"all of it", whole, remove(), "", false},
		{"without the link", whole, remove(keptLink), "found an incomplete copy (symbolic link .csisim-kept/link: none)", false},
		{"without the file", whole, remove(keptFile), "found an incomplete copy (file .csisim-kept/file: none)", false},
		{"without the directory", whole, os.RemoveAll, "found an incomplete copy (file .csisim-kept/file: none)", false},
		{"a file in place of the link", whole, func(dir string) error {
			return os.Rename(filepath.Join(dir, keptFile), filepath.Join(dir, keptLink))
		}, "found an incomplete copy (file .csisim-kept/file: none)", false},
		{"with a part of the file", whole, func(dir string) error { return os.Truncate(filepath.Join(dir, keptFile), 1<<16) }, "found an incomplete copy (file .csisim-kept/file: other content)", false},
		{"of a source without a link", without(func(k *kept) { k.link = "" }), remove(keptLink), "", false},
		{"of a source without a file", without(func(k *kept) { k.link, k.file, k.whole = "", false, false }), os.RemoveAll, "", false},
		{"with another mode", whole, chmod, "has -rw-r--r--", true},
		{"with another mode, as its source", without(func(k *kept) { k.mode = 0o644 }), chmod, "", false},
		{"with the mode that fsGroup gives", whole, func(dir string) error { return os.Chmod(filepath.Join(dir, keptFile), 0o771) }, "", false},
		{"of another owner", without(func(k *kept) { k.uid++ }), remove(), "has ", true},
		{"of a source that could not be looked at", kept{}, os.RemoveAll, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			d, err := machine.NewDisk("node-a", root)
			require.NoError(t, err)
			defer d.Close()
			require.NoError(t, d.MkdirAll("/p/"+keptDir, 0o755))
			dir := d.Path("/p/" + keptDir)
			require.NoError(t, os.WriteFile(filepath.Join(dir, keptFile), keptContent, 0o600))
			require.NoError(t, os.Chmod(filepath.Join(dir, keptFile), 0o751))
			require.NoError(t, os.Symlink(keptFile, filepath.Join(dir, keptLink)))
			require.NoError(t, c.change(dir))

			check, got := New(), []verdict.Verdict(nil)
			check.OnViolation = func(_ Use, v verdict.Verdict) { got = append(got, v) }
			check.kept["d^v"] = c.source
			check.compareKept(Use{Pod: "default/p", Volume: Volume{"d", "copy"}, Name: "pv", Node: "node-a", Machine: d, Path: "/p"}, "d^v")
			if c.violates == "" {
				assert.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			assert.Contains(t, got[0].Found[0], c.violates)
			assert.Equal(t, c.remark, got[0].Remark)
		})
	}
}
