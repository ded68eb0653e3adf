package deploy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/csisim/csisim/internal/input/manifest"
	"github.com/csisim/csisim/internal/input/strict"
)

// ReadOwn reads the manifests of a driver's deployment: files, folders with files, and folders with
// a kustomization. Paths are relative to dir. The error is a *PathError for the first unreadable
// path, strict.Problems of a file, or another error if no pod has a driver with sidecars.
func ReadOwn(dir string, paths []string) (*Own, error) {
	o := &Own{sources: map[*unstructured.Unstructured]manifest.Object{}}
	for i, path := range paths {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		found, err := o.readPath(path)
		if problems := (strict.Problems{}); errors.As(err, &problems) {
			return nil, problems
		}
		if err != nil {
			return nil, &PathError{i, err}
		}
		o.objects = append(o.objects, found...)
	}
	for _, u := range o.objects {
		if _, ok := templateOf(u); ok && u.GetNamespace() == "" {
			u.SetNamespace("default") // as kubectl does
		}
	}
	slices.SortStableFunc(o.objects, func(a, b *unstructured.Unstructured) int { return order(a) - order(b) })
	return o, o.look()
}

// PathError is the error of a path that cannot be read.
type PathError struct {
	Index int
	Err   error
}

func (e *PathError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *PathError) Unwrap() error { return e.Err }

// order sorts objects by their dependencies: namespaces, then definitions.
func order(u *unstructured.Unstructured) int {
	switch u.GetKind() {
	case "Namespace":
		return 0
	case "CustomResourceDefinition":
		return 1
	}
	return 2
}

// kustomizations are the file names of a kustomization.
var kustomizations = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

func (o *Own) readPath(path string) ([]*unstructured.Unstructured, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return o.readFile(path)
	}
	for _, name := range kustomizations {
		if _, err := os.Stat(filepath.Join(path, name)); err == nil {
			return build(path)
		}
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	for _, e := range entries { // one folder deep, like kubectl apply -f
		if ext := filepath.Ext(e.Name()); e.IsDir() || ext != ".yaml" && ext != ".yml" && ext != ".json" {
			continue
		}
		found, err := o.readFile(filepath.Join(path, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("folder %s has neither a kustomization.yaml nor files with manifests", path)
	}
	return all, nil
}

// build builds a kustomization like kubectl apply -k. It calls kubectl, because the library links
// Go's plugins, and a program with plugins contains every method of every type.
func build(dir string) ([]*unstructured.Unstructured, error) {
	text, err := exec.Command("kubectl", "kustomize", dir).Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("build the kustomization in %s: kubectl is not in PATH; install it, or give the files that kubectl kustomize prints", dir)
	}
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return nil, fmt.Errorf("build the kustomization in %s: kubectl: %s", dir, bytes.TrimSpace(failed.Stderr))
	}
	if err != nil {
		return nil, fmt.Errorf("build the kustomization in %s: %w", dir, err)
	}
	// The built objects have no file.
	all, _, err := decode(filepath.Join(dir, kustomizations[0]), text)
	return all, err
}

func (o *Own) readFile(path string) ([]*unstructured.Unstructured, error) {
	text, err := strict.ReadFile(path)
	if err != nil {
		return nil, err
	}
	all, sources, err := decode(path, text)
	if len(all) == len(sources) {
		for i, u := range all {
			o.sources[u] = sources[i]
		}
	}
	return all, err
}

// decode reads the unchanged objects, after a strict check of all fields of Kubernetes' own kinds,
// and their positions.
func decode(file string, text []byte) (all []*unstructured.Unstructured, sources []manifest.Object, err error) {
	sources, problems := manifest.DecodeText(strict.Source{File: file, Text: text})
	if len(problems) > 0 {
		return nil, nil, problems
	}
	for in := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		u := &unstructured.Unstructured{}
		err := in.Decode(&u.Object)
		switch {
		case errors.Is(err, io.EOF):
			return all, sources, nil
		case err != nil:
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		case len(u.Object) == 0: // an empty document
		case u.IsList():
			err = u.EachListItem(func(item runtime.Object) error {
				all = append(all, item.(*unstructured.Unstructured))
				return nil
			})
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", file, err)
			}
		default:
			all = append(all, u)
		}
	}
}

// look finds the CSIDriver object and the pods with plugins.
func (o *Own) look() error {
	for _, u := range o.objects {
		if u.GetKind() == "CSIDriver" {
			o.CSIDriver = &storagev1.CSIDriver{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, o.CSIDriver); err != nil {
				return fmt.Errorf("CSIDriver %s: %w", u.GetName(), err)
			}
		}
		template, ok := templateOf(u)
		if !ok {
			continue
		}
		p, err := findPlugin(u, template)
		if wrong := (*mistake)(nil); errors.As(err, &wrong) {
			if source, is := o.sources[u]; is {
				return strict.Problems{source.Problem(wrong.field, wrong.found, wrong.want, "")}
			}
		}
		if err != nil {
			return err
		}
		if p != nil {
			o.pods = append(o.pods, *p)
		}
	}
	if len(o.pods) == 0 {
		return errors.New("no Deployment, StatefulSet or DaemonSet in the manifests has a driver with sidecars: node-driver-registrar, csi-provisioner, …")
	}
	return nil
}
