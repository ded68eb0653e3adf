// Package plural writes numbers of things for people.
package plural

import "fmt"

// Of is "1 call", "2 calls".
func Of(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
