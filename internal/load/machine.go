package load

import "runtime"

func thisMachine() Machine {
	return Machine{Processor: runtime.GOARCH, Cores: runtime.NumCPU(), System: runtime.GOOS}
}

// Total sums the use of all programs.
func (s Sample) Total() Use {
	var sum Use
	for _, u := range s.Programs {
		sum.CPU += u.CPU
		sum.Memory += u.Memory
		sum.Threads += u.Threads
		sum.Descriptors += u.Descriptors
		sum.Children += u.Children
		sum.Mounts += u.Mounts
		sum.Goroutines += u.Goroutines
		sum.Ran += u.Ran
		sum.Delayed += u.Delayed
	}
	return sum
}
