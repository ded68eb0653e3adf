package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"

	loadreport "github.com/csisim/csisim/cmd/internal/load"
	"github.com/csisim/csisim/internal/load"
)

// loadJob is the name of all objects of a load on a cluster, and loadResults the directory for the
// results of its pods.
const (
	loadJob     = "csisim-load"
	loadResults = "/results"
)

// shardFlags distribute a load over several machines.
type shardFlags struct {
	shard string
	job   int
	image string
	merge string
}

func (f *shardFlags) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&f.shard, "shard", "", "play the i-th of n parts of the load, on separate nodes, as `i/n` (i counts from 0)")
	flags.IntVar(&f.job, "job", 0, "only print the manifests of a Kubernetes Job that plays the load in `N` shards")
	flags.StringVar(&f.image, "image", usualImage, "image of the containers of --job; it must have csisim and the driver")
	flags.StringVar(&f.merge, "merge", "", "play nothing: gather the results of all shards in `DIR` into one report")
}

// check rejects flags that exclude each other.
func (f *shardFlags) check(flags *pflag.FlagSet) error {
	switch given := flags.Changed; {
	case given("job") && f.job < 1:
		return usage("--job %d: it must be at least 1", f.job)
	case given("job") && (given("shard") || given("merge") || given("json") || given("report") || given("against") || given("baseline")):
		return usage("--job: its shards have --shard and --json of their own; compare the merged results")
	case given("image") && !given("job"):
		return usage("--image without --job")
	case given("shard") && given("merge"):
		return usage("--shard and --merge: one of them")
	case given("shard") && (given("against") || given("baseline")):
		return usage("--shard with --against or --baseline: compare the merged results")
	}
	return nil
}

// write prints the manifests of the load on a Kubernetes cluster: a volume that all shards share
// for their results, and an indexed Job. Its pods are privileged, since drivers mount in them.
func (f *shardFlags) write(env environment, flags *pflag.FlagSet, args []string) error {
	job := shardedJob{name: loadJob, container: "load", shards: f.job, image: f.image, shared: loadResults, privileged: true}
	command := []string{"csisim", "load"}
	flags.Visit(func(flag *pflag.Flag) {
		if flag.Name == "job" || flag.Name == "image" {
			return
		}
		for _, value := range valuesOf(flag.Value) {
			command = append(command, "--"+flag.Name+"="+value)
		}
	})
	command = append(command, "--shard", job.shard(), "--json", loadResults+"/$(JOB_COMPLETION_INDEX).json")
	if len(args) > 0 {
		command = append(append(command, "--"), args...)
	}
	job.command = command
	return job.write(env, nil, corev1.Volume{}, "")
}

// merged reads and gathers the results of all shards.
func (f *shardFlags) merged() (*load.Result, error) {
	names, err := filepath.Glob(filepath.Join(f.merge, "*.json"))
	if err != nil || len(names) == 0 {
		return nil, usage("--merge %s: it has no results, files that end in .json", f.merge)
	}
	slices.Sort(names)
	var results []*load.Result
	for _, name := range names {
		r, err := readResult(name)
		if err != nil {
			return nil, usage("--merge: %s: %w", name, err)
		}
		results = append(results, r)
	}
	merged, err := load.Merge(results)
	if err != nil {
		return nil, usage("--merge %s: %w", f.merge, err)
	}
	return merged, nil
}

func readResult(name string) (*load.Result, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open result: %w", err)
	}
	defer file.Close()
	return load.Read(file)
}

// showMerged reports the results of all shards as one.
func (l *loading) showMerged() error {
	merged, err := l.flags.merged()
	if err != nil {
		return err
	}
	if l.baseline, err = l.flags.readBaseline(merged.Plan); err != nil {
		return err
	}
	r := &loadreport.Report{Result: merged, Findings: merged.Findings()}
	if err := l.judge(r); err != nil {
		return err
	}
	if err := l.write(r); err != nil || !r.Failed() {
		return err
	}
	return reported(exitFailed)
}
