package program

import (
	"io/fs"
	"path/filepath"
)

// Files are the files that driver programs keep in the directories that the run gives them.
type Files struct {
	Run
	// Dir returns the directory of the run. HasProgram reports whether the run has started a
	// driver's plugins as programs.
	Dir        func() string
	HasProgram func(driver string) bool
}

// mostContents bounds the number of examined files. A driver with more files stores other data
// there.
const mostContents = 2000

// each visits the files and directories, as filepath.WalkDir does. It omits those that vanish
// meanwhile.
func (f *Files) each(visit func(path string, entry fs.DirEntry) error) {
	count := 0
	for _, below := range []string{"state", "standin"} {
		_ = filepath.WalkDir(filepath.Join(f.Dir(), below), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return nil // it vanished
			}
			if !entry.IsDir() {
				count++
			}
			if count > mostContents {
				return fs.SkipAll
			}
			return visit(path, entry)
		})
	}
}
