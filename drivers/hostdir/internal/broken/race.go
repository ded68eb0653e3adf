//go:build linux

package broken

import "sync"

var published int

// CountPublished counts a call in two goroutines that write a variable without a lock, and returns
// the count.
func CountPublished() int {
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			for range 100 {
				published++
			}
		})
	}
	both.Wait()
	return published
}
