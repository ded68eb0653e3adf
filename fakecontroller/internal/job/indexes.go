package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// indexVariable is in the environment of each container of an Indexed job.
const indexVariable = "JOB_COMPLETION_INDEX"

// isIndexed reports whether each pod of a job has an index. Then a pod has to succeed for each
// index.
func isIndexed(j job) bool {
	return j.Spec.CompletionMode != nil && *j.Spec.CompletionMode == batchv1.IndexedCompletion
}

// indexOf returns the index of a pod; -1 if it has none, or if the index exceeds the job's
// completions.
func indexOf(j job, pod *corev1.Pod) int {
	n, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil || n < 0 || n >= int(*j.Spec.Completions) {
		return -1
	}
	return n
}

// indexes is a set of numbers, in the format of a job's status: "1,3-5,7".
type indexes map[int]bool

func parseIndexes(text string, below int) indexes {
	found := indexes{}
	if text == "" {
		return found
	}
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil {
			continue // the real controller also ignores this part
		}
		for n := from; n <= min(to, below-1); n++ {
			found[n] = true
		}
	}
	return found
}

func (x indexes) String() string {
	var sorted []int
	for n := range x {
		sorted = append(sorted, n)
	}
	slices.Sort(sorted)
	var parts []string
	for i := 0; i < len(sorted); {
		last := i
		for last+1 < len(sorted) && sorted[last+1] == sorted[last]+1 {
			last++
		}
		switch {
		case last == i:
			parts = append(parts, strconv.Itoa(sorted[i]))
		case last == i+1:
			parts = append(parts, strconv.Itoa(sorted[i]), strconv.Itoa(sorted[last]))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", sorted[i], sorted[last]))
		}
		i = last + 1
	}
	return strings.Join(parts, ",")
}

// pending returns the lowest indexes without a successful or active pod. C-JOB-1
func (r *round) pending(count int) (next []int) {
	taken := indexes{}
	for _, pod := range r.active {
		taken[indexOf(r.job, pod)] = true
	}
	for n := 0; n < int(*r.Spec.Completions) && len(next) < count; n++ {
		if !r.done[n] && !r.lost[n] && !taken[n] {
			next = append(next, n)
		}
	}
	return next
}

// duplicates returns the surplus active pods: their index has succeeded, is unknown, or belongs to
// another active pod as well.
func (r *round) duplicates() (surplus []*corev1.Pod) {
	taken := indexes{}
	for _, pod := range r.active {
		n := indexOf(r.job, pod)
		if n < 0 || r.done[n] || taken[n] {
			surplus = append(surplus, pod)
		}
		taken[n] = true
	}
	return surplus
}

// number assigns an index to a new pod of an Indexed job: in its name, its labels and annotations,
// its host name and the environment of its containers. C-JOB-1
func number(j job, pod *corev1.Pod, n int) {
	text := strconv.Itoa(n)
	pod.GenerateName = j.Name + "-" + text + "-"
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Annotations[batchv1.JobCompletionIndexAnnotation] = text
	pod.Labels[batchv1.JobCompletionIndexAnnotation] = text
	pod.Spec.Hostname = j.Name + "-" + text
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			c := &containers[i]
			if !slices.ContainsFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == indexVariable }) {
				c.Env = append(c.Env, corev1.EnvVar{Name: indexVariable, ValueFrom: &corev1.EnvVarSource{
					FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['" + batchv1.JobCompletionIndexAnnotation + "']"},
				}})
			}
		}
	}
}
