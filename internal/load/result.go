package load

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// Format is the version of the file format of results.
const Format = "csisim.dev/load/v1"

// Result is the outcome of a load.
type Result struct {
	Format  string  `json:"format"`
	Driver  Driver  `json:"driver"`
	Machine Machine `json:"machine"`
	Plan    Plan    `json:"plan"`
	Levels  []Level `json:"levels"`
	// Opened are the files that the driver opens in calls with durations that grow with the number
	// of volumes. It is empty if no call's duration grows, or if csisim cannot observe the driver's
	// system calls.
	Opened []Opened `json:"opened,omitempty"`
	// Ended is the reason for the early end of the load; empty if there was none.
	Ended string `json:"ended,omitempty"`
	// Notes are limits of the load that a reader must know.
	Notes []string `json:"notes,omitempty"`
}

// Driver is the driver under load.
type Driver struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Command string `json:"command,omitempty"`
	// Stages and Attaches define which stages its volumes have.
	Stages   bool `json:"stages"`
	Attaches bool `json:"attaches"`
}

// Opened counts how often the driver's programs open files for reading in one call.
type Opened struct {
	Call string `json:"call"`
	// Volumes is the number of other volumes.
	Volumes int `json:"volumes"`
	// Files are the numbers of opens, by the path.
	Files map[string]int `json:"files"`
}

// Machine is the computer of a measurement.
type Machine struct {
	Processor string `json:"processor"`
	Cores     int    `json:"cores"`
	System    string `json:"system"`
}

// Level is a load with a number of volumes.
type Level struct {
	Volumes int   `json:"volumes"`
	Runs    []Run `json:"runs"`
}

// Run is one course of a level.
type Run struct {
	Phases []Phase `json:"phases"`
	// Calls are the calls to the driver, by name.
	Calls map[string]*Calls `json:"calls"`
	// Stages are the stages in the lives of the volumes, in their order.
	Stages []Stage `json:"stages"`
	// Samples are the resources of the driver at points of the run, in their order.
	Samples []Sample `json:"samples"`
	// Starts are the times that the driver's programs took to start, in microseconds.
	Starts []int64 `json:"starts,omitempty"`
	// Died are the programs that exited by themselves. Stuck is the aim of a phase that reached its
	// limit.
	Died  []Death `json:"died,omitempty"`
	Stuck string  `json:"stuck,omitempty"`
}

// Phase is a part of a run: up, down, or a part of the shape between.
type Phase struct {
	Name string `json:"name"`
	// Began and Took are in microseconds of cluster time, since the start of the cluster.
	Began int64 `json:"began"`
	Took  int64 `json:"took"`
	// Real is the real time that it took, in microseconds.
	Real int64 `json:"real"`
	// CPU is the processor time of the driver in the phase, in microseconds.
	CPU int64 `json:"cpu"`
	// Busy is the mean number of busy threads of the driver's programs; 0 if unknown. A busy thread
	// runs or waits for a processor or a disk. The mean is over the moments with a Crowd of calls
	// and at least one busy thread.
	Busy float64 `json:"busy"`
	// Ran is the running time of the driver's threads, and Delayed their waiting time for a
	// processor, in microseconds; 0 if unknown.
	Ran     int64 `json:"ran,omitempty"`
	Delayed int64 `json:"delayed,omitempty"`
}

// Calls are the calls of one kind in a run. Times are in microseconds of cluster time.
type Calls struct {
	Began []int64 `json:"began"`
	Took  []int64 `json:"took"`
	// Failed are the codes of failed calls, by their index.
	Failed map[int]string `json:"failed,omitempty"`
	// Messages are the errors of the first failed call of each code.
	Messages map[string]string `json:"messages,omitempty"`
}

// Stage is one stage in the lives of the volumes of a run, such as "staged".
type Stage struct {
	Name string `json:"name"`
	// Took is the time since the previous stage. Driver is the part of that time in which the
	// driver worked on calls for the volume. In microseconds, by volume.
	Took   []int64 `json:"took"`
	Driver []int64 `json:"driver"`
	// Ended are the times at which the volumes reached the stage, since the start of the cluster.
	Ended []int64 `json:"ended"`
}

// Sample is the use of resources by the driver's programs at one moment.
type Sample struct {
	// At is "before", "up" or "after".
	At       string `json:"at"`
	Programs []Use  `json:"programs"`
}

// Use is the resource use of a program and its children at one moment.
type Use struct {
	Plugin string `json:"plugin"`
	// CPU is the processor time since it began, in microseconds.
	CPU         int64 `json:"cpu"`
	Memory      int64 `json:"memory"` // resident, in bytes
	Threads     int64 `json:"threads"`
	Descriptors int64 `json:"descriptors"`
	Children    int64 `json:"children"`
	Mounts      int64 `json:"mounts"`
	Goroutines  int64 `json:"goroutines,omitempty"`
	// Ran is the running time of its threads, and Delayed their waiting time for a processor, in
	// microseconds.
	Ran     int64 `json:"ran,omitempty"`
	Delayed int64 `json:"delayed,omitempty"`
}

// Death is a program of the driver that ended by itself.
type Death struct {
	Text string   `json:"text"`
	Log  []string `json:"log,omitempty"`
}

// Largest returns the largest level that was played; nil if none was.
func (r *Result) Largest() *Level {
	for i := len(r.Levels) - 1; i >= 0; i-- {
		if len(r.Levels[i].Runs) > 0 {
			return &r.Levels[i]
		}
	}
	return nil
}

// Write writes the result as JSON.
func (r *Result) Write(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

// Read reads a result that Write has written.
func Read(r io.Reader) (*Result, error) {
	var result Result
	if err := json.NewDecoder(r).Decode(&result); err != nil {
		return nil, fmt.Errorf("read the result of a load: %w", err)
	}
	if result.Format != Format {
		return nil, fmt.Errorf("its format is %q, not %q: it is no result of csisim load", result.Format, Format)
	}
	return &result, nil
}

func micros(d time.Duration) int64 { return d.Microseconds() }

// Metrics receives the figures of a benchmark, like *testing.B.
type Metrics interface{ ReportMetric(n float64, unit string) }

// Report reports the medians of the phases and of the calls at the largest level, such as
// "NodePublishVolume-ms", for benchstat.
func (r *Result) Report(to Metrics) {
	l := r.Largest()
	if l == nil {
		return
	}
	for _, phase := range l.Phases() {
		if phase != "stay" {
			to.ReportMetric(Median(l.Took(phase)), strings.ReplaceAll(phase, " ", "-")+"-s")
		}
	}
	for _, method := range r.Methods() {
		if Changes(method) {
			to.ReportMetric(l.Of(method).P50, method+"-ms")
		}
	}
}
