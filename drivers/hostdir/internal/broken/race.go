//go:build linux

package broken

import "sync"

var published int

// CountPublished counts a call twice, in two goroutines that write the same variable without a lock.
func CountPublished() {
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			for range 100 {
				published++
			}
		})
	}
	both.Wait()
}
