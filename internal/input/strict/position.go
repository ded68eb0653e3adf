package strict

import (
	"strconv"
	"strings"
)

// Position is a place in a file, both numbers from 1.
type Position struct{ Line, Column int }

// Positions has the position of each value of a document, by the value's path.
type Positions map[string]Position

// At returns the position of the value at the path. If the file omits that value, it returns the
// position of the nearest value around it, so that there is always a line to show.
func (ps Positions) At(path string) Position {
	for {
		if at, ok := ps[path]; ok {
			return at
		}
		if path == "" {
			return Position{Line: 1, Column: 1}
		}
		path = parent(path)
	}
}

// parent removes the last step of a path: the parent of a.b[3] is a.b, and its parent is a.
func parent(path string) string {
	if strings.HasSuffix(path, `"]`) {
		return path[:quotedKeyStart(path)]
	}
	return path[:max(0, strings.LastIndexAny(path, ".["))]
}

// quotedKeyStart finds the bracket that opens the quoted key at the end of the path.
func quotedKeyStart(path string) int {
	for start := strings.LastIndex(path, `["`); start > 0; start = strings.LastIndex(path[:start], `["`) {
		if _, err := strconv.Unquote(path[start+1 : len(path)-1]); err == nil {
			return start
		}
	}
	return 0
}

// Key returns the path of the value under a key of the map at path. A key that is not a plain word
// is quoted: metadata.labels["app.kubernetes.io/name"].
func Key(path, key string) string {
	switch {
	case !isWord(key):
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	default:
		return path + "." + key
	}
}

// Index returns the path of an item of the list at path.
func Index(path string, i int) string {
	return path + "[" + strconv.Itoa(i) + "]"
}

func isWord(key string) bool {
	for _, r := range key {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		if !letter && r != '-' && r != '_' {
			return false
		}
	}
	return key != ""
}
