package main

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// shardOf parses the flag --shard.
func shardOf(text string) (index, shards int, err error) {
	var rest string
	if n, _ := fmt.Sscanf(text+"\n", "%d/%d%s", &index, &shards, &rest); n != 2 || index < 0 || index >= shards {
		return 0, 0, usage("--shard %s: it must be i/n with i from 0 to n-1, such as 0/4", text)
	}
	return index, shards, nil
}

// usualImage is the image of the containers of Jobs.
const usualImage = "ghcr.io/csisim/csisim:latest"

// shardedJob is an indexed Job with a pod for each shard of a command, and a volume that all pods
// share.
type shardedJob struct {
	name, container string
	shards          int
	image           string
	command         []string
	shared          string // where pods find the shared volume
	privileged      bool
}

// write prints the manifests: an object for the pods, which may be nil, with the volume and the
// path at which they find it, the claim of the shared volume, and the Job.
func (j shardedJob) write(env environment, object any, volume corev1.Volume, path string) error {
	job := j.job()
	objects := []any{
		&corev1.PersistentVolumeClaim{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, ObjectMeta: metav1.ObjectMeta{Name: j.name},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		},
		job,
	}
	if object != nil {
		objects = append([]any{object}, objects...)
		pod := &job.Spec.Template.Spec
		pod.Volumes = append([]corev1.Volume{volume}, pod.Volumes...)
		pod.Containers[0].VolumeMounts = append([]corev1.VolumeMount{{Name: volume.Name, MountPath: path}}, pod.Containers[0].VolumeMounts...)
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

// shard is the shard of a pod, for a flag.
func (j shardedJob) shard() string { return fmt.Sprintf("$(JOB_COMPLETION_INDEX)/%d", j.shards) }

func (j shardedJob) job() *batchv1.Job {
	shards, indexed, once := int32(j.shards), batchv1.IndexedCompletion, int32(0)
	const volume = "shared"
	container := corev1.Container{
		Name: j.container, Image: j.image, Command: j.command, VolumeMounts: []corev1.VolumeMount{{Name: volume, MountPath: j.shared}},
	}
	if j.privileged {
		container.SecurityContext = &corev1.SecurityContext{Privileged: &j.privileged}
	}
	return &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: metav1.ObjectMeta{Name: j.name},
		Spec: batchv1.JobSpec{
			Completions: &shards, Parallelism: &shards, CompletionMode: &indexed, BackoffLimitPerIndex: &once, MaxFailedIndexes: &shards,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{container},
				Volumes:       []corev1.Volume{{Name: volume, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: j.name}}}},
			}},
		},
	}
}
