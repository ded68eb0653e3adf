package strict

import (
	"fmt"
	"slices"
	"strings"
)

// Nearest returns the known word that was most likely meant, or empty if none is near. It ignores
// case, dashes and underscores, and counts a swap of two neighbours as one mistake.
func Nearest(word string, known []string) string {
	plain := foldWord(word)
	nearest, least := "", max(1, len(plain)/4)+1
	for _, candidate := range known {
		if len(plain)-len(candidate) > len(plain)/2 {
			continue // a much longer word is not a typing error
		}
		folded := foldWord(candidate)
		distance := edits(plain, folded)
		// Prefer a known word of which only the end is missing.
		if distance < least || nearest != "" && distance == least && strings.HasPrefix(folded, plain) {
			nearest, least = candidate, distance
		}
	}
	return nearest
}

func foldWord(word string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(word))
}

// edits counts the insertions, deletions, replacements and swaps of neighbours that turn a into b.
func edits(a, b string) int {
	from, to := []rune(a), []rune(b)
	rows := make([][]int, len(from)+1)
	for i := range rows {
		rows[i] = make([]int, len(to)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(from); i++ {
		for j := 1; j <= len(to); j++ {
			replace := rows[i-1][j-1]
			if from[i-1] != to[j-1] {
				replace++
			}
			rows[i][j] = min(replace, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(from)][len(to)]
}

// maxListed is the number of names up to which a message lists all of them.
const maxListed = 16

// OneOf describes a value from a fixed list of names.
func OneOf(names []string, where string) string { return oneOf(names, "value", where) }

// oneOf lists the allowed names, or counts them if the list would be too long for a message.
func oneOf(names []string, noun, where string) string {
	switch {
	case len(names) == 0:
		return "no " + noun + "s at all"
	case len(names) == 1:
		return names[0]
	case len(names) > maxListed:
		return fmt.Sprintf("one of the %d %ss of %s", len(names), noun, where)
	}
	return "one of " + strings.Join(slices.Sorted(slices.Values(names)), ", ")
}
