package scenario

import (
	"maps"
	"path/filepath"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/sim"
)

// Mapped is an entry of images.
type Mapped struct {
	Image string
	File  string // what it stands for; a path, or the name of a program
	Line  int    // where the scenario says so
}

// MappedImages are the entries of images, sorted.
func (s *Scenario) MappedImages() (all []Mapped) {
	for _, image := range slices.Sorted(maps.Keys(s.Images)) {
		file := located([]string{s.Images[image]}, filepath.Dir(s.File))[0]
		all = append(all, Mapped{image, file, s.lineOf("images", image, noItem)})
	}
	return all
}

// UnmappedImages are the images of the scenario's own containers that no entry of images names.
func (s *Scenario) UnmappedImages() []string {
	return slices.DeleteFunc(s.containerImages(), func(image string) bool { return sim.Maps(s.Images, image) })
}

// imagesOf are the images of the containers of an object's pods.
func imagesOf(object any) (images []string) {
	var pod corev1.PodSpec
	switch o := object.(type) {
	case *corev1.Pod:
		pod = o.Spec
	case *appsv1.StatefulSet:
		pod = o.Spec.Template.Spec
	case *appsv1.Deployment:
		pod = o.Spec.Template.Spec
	case *appsv1.DaemonSet:
		pod = o.Spec.Template.Spec
	case *appsv1.ReplicaSet:
		pod = o.Spec.Template.Spec
	case *batchv1.Job:
		pod = o.Spec.Template.Spec
	}
	for _, c := range append(append([]corev1.Container{}, pod.InitContainers...), pod.Containers...) {
		images = append(images, c.Image)
	}
	return images
}
