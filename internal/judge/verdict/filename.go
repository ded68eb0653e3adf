package verdict

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// notInFileNames matches the characters that file names do not contain.
var notInFileNames = lazyregexp.New(`[^a-z0-9]+`)

// longestFileName bounds the words of a defect in the name of a file.
const longestFileName = 60

// FileName returns a name for the file of a defect: its first words, and a digest that
// distinguishes defects with the same beginning.
func FileName(name string) string {
	words := strings.Trim(notInFileNames().ReplaceAllString(strings.ToLower(name), "-"), "-")
	words = strings.TrimRight(words[:min(len(words), longestFileName)], "-")
	return fmt.Sprintf("%s-%.3x", words, sha256.Sum256([]byte(name)))
}
