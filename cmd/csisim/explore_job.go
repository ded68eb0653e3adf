package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/input/strict"
)

// jobName is the name of all objects of a search on a cluster.
const jobName = "csisim-explore"

// Where the containers of the job find the scenarios and the corpus.
const (
	jobScenarios = "/scenarios"
	jobCorpus    = "/corpus"
)

// writeJob prints the manifests of a search with shards on a Kubernetes cluster: the
// scenarios, a volume that all shards share for their corpora and findings, and an indexed Job.
func (f *exploreFlags) writeJob(env environment, scenarios []*scenario.Scenario, image string) error {
	texts := map[string]string{}
	command := []string{"csisim", "explore"}
	for _, s := range scenarios {
		text, err := strict.ReadFile(s.File)
		if err != nil {
			return err
		}
		name := filepath.Base(s.File)
		if _, twice := texts[name]; twice {
			return usage("--job: two scenarios are called %s; rename one, or give each a Job of its own", name)
		}
		texts[name] = string(text)
		command = append(command, jobScenarios+"/"+name)
	}
	command = append(command, f.jobFlags()...)
	scenariosMap := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: jobName}, Data: texts}
	job := shardedJob{name: jobName, container: "explore", shards: f.job, image: image, command: command, shared: jobCorpus}
	return job.write(env, scenariosMap, corev1.Volume{Name: "scenarios", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: jobName}}}}, jobScenarios)
}

// jobFlags returns the flags of each shard.
func (f *exploreFlags) jobFlags() []string {
	flags := []string{
		"--strategy", f.strategy, "--seed", strconv.FormatUint(f.seed, 10), "--budget", strconv.Itoa(f.budget),
		"--shard", fmt.Sprintf("$(JOB_COMPLETION_INDEX)/%d", f.job), "--corpus", jobCorpus, "--out", jobCorpus,
	}
	faults := strings.Join(f.faults, ",")
	if faults == "" {
		faults = noFaults
	}
	flags = append(flags, "--faults", faults)
	if f.runs > 0 {
		flags = append(flags, "--runs", strconv.Itoa(f.runs))
	}
	if f.time > 0 {
		flags = append(flags, "--time", f.time.String())
	}
	return flags
}
