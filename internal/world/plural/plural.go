// Package plural writes numbers of things for people.
package plural

import "fmt"

// Of returns a number with its noun: "1 call", "2 calls".
func Of(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
