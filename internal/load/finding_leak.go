package load

import (
	"fmt"
	"slices"
	"strings"
)

// The amounts, in total and for each volume, from which a growing resource of one program is
// reported. The resource must grow in each run without being released. The first calls of a program
// fill its heap.
var leaking = []struct {
	name             string
	of               func(Use) int64
	least, perVolume float64
	unit             func(float64) string
}{
	{"memory", func(u Use) int64 { return u.Memory }, 8 << 20, 24 << 10, Bytes},
	{"descriptors", func(u Use) int64 { return u.Descriptors }, 10, 0.2, number("file descriptor")},
	{"threads", func(u Use) int64 { return u.Threads }, 20, 0.8, number("thread")},
	{"goroutines", func(u Use) int64 { return u.Goroutines }, 20, 0.8, number("goroutine")},
	{"children", func(u Use) int64 { return u.Children }, 5, 0.1, number("child process")},
	{"mounts", func(u Use) int64 { return u.Mounts }, 5, 0.1, number("mount")},
}

// leaks finds resources that are not released after all volumes were deleted.
func leaks(r *Result) (all []Finding) {
	last := r.Largest()
	for _, resource := range leaking {
		for _, plugin := range last.plugins() {
			after := last.after(plugin, resource.of)
			grown := steady(after)
			perVolume := grown / float64(last.Volumes*max(1, len(after)-1))
			if grown < resource.least || perVolume < resource.perVolume {
				continue
			}
			all = append(all, Finding{Name: "leak/" + resource.name, Text: fmt.Sprintf("the driver keeps %s for each deleted volume: %s after %s, %s after %s (%s)",
				resource.unit(perVolume), resource.unit(after[0]), volumes(last.Volumes), resource.unit(after[len(after)-1]), volumes(last.Volumes*len(after)), plugin)})
			break // its other plugins are the same program
		}
	}
	return all
}

// plugins returns the names of the measured plugins.
func (l Level) plugins() (names []string) {
	for _, run := range l.Runs {
		for _, s := range run.Samples {
			for _, u := range s.Programs {
				if !slices.Contains(names, u.Plugin) {
					names = append(names, u.Plugin)
				}
			}
		}
	}
	return names
}

// after returns the use of a resource by a plugin after each run.
func (l Level) after(plugin string, of func(Use) int64) (all []float64) {
	for _, run := range l.Runs {
		for _, s := range run.Samples {
			for _, u := range s.Programs {
				if s.At == "after" && u.Plugin == plugin {
					all = append(all, float64(of(u)))
				}
			}
		}
	}
	return all
}

// steady returns the total growth of three or more numbers. It is 0 unless each number is greater
// than the previous number, and the last step is at least half as large as the first.
func steady(numbers []float64) float64 {
	n := len(numbers)
	if n < 3 {
		return 0 // the first run fills caches
	}
	for i := 1; i < n; i++ {
		if numbers[i] <= numbers[i-1] {
			return 0
		}
	}
	if numbers[n-1]-numbers[n-2] < (numbers[1]-numbers[0])/2 {
		return 0
	}
	return numbers[n-1] - numbers[0]
}

func number(unit string) func(float64) string {
	return func(n float64) string {
		switch text := strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0"); {
		case text == "1":
			return text + " " + unit
		case strings.HasSuffix(unit, "s"):
			return text + " " + unit + "es"
		default:
			return text + " " + unit + "s"
		}
	}
}

// Bytes writes a number of bytes.
func Bytes(n float64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%.1f MiB", n/(1<<20))
	}
	return fmt.Sprintf("%.0f KiB", n/(1<<10))
}
