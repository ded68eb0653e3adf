package contract

import "strings"

// CheckOverlap holds the mounts at the paths of a call, a line each, that came twice at once
// against the CSI spec: a caller that lost its memory may do so, and the effect is that of one
// call (CSI "Concurrency").
func CheckOverlap(method string, mounts []string) []Violation {
	if !strings.HasPrefix(method, "Node/") {
		return nil
	}
	seen := map[string]bool{}
	for _, m := range mounts {
		if seen[m] {
			return []Violation{{Method: method, Rule: "has its effect twice when two calls overlap", Detail: "2 mounts " + m}}
		}
		seen[m] = true
	}
	return nil
}
