package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

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
	objects := []any{
		&corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: jobName}, Data: texts},
		&corev1.PersistentVolumeClaim{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, ObjectMeta: metav1.ObjectMeta{Name: jobName},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		},
		f.indexedJob(command, image),
	}
	var out strings.Builder
	for i, o := range objects {
		text, err := yaml.Marshal(o)
		if err != nil {
			return fmt.Errorf("write the job: %w", err)
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(text)
	}
	_, err := fmt.Fprint(env.stdout, strings.ReplaceAll(out.String(), "status: {}\n", ""))
	return err
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

func (f *exploreFlags) indexedJob(command []string, image string) *batchv1.Job {
	shards, indexed, once := int32(f.job), batchv1.IndexedCompletion, int32(0)
	return &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: metav1.ObjectMeta{Name: jobName},
		Spec: batchv1.JobSpec{
			Completions: &shards, Parallelism: &shards, CompletionMode: &indexed, BackoffLimitPerIndex: &once, MaxFailedIndexes: &shards,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{
					Name: "explore", Image: image, Command: command,
					VolumeMounts: []corev1.VolumeMount{{Name: "scenarios", MountPath: jobScenarios}, {Name: "corpus", MountPath: jobCorpus}},
				}},
				Volumes: []corev1.Volume{
					{Name: "scenarios", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: jobName}}}},
					{Name: "corpus", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: jobName}}},
				},
			}},
		},
	}
}
