// Package definition gives CustomResourceDefinitions their meaning: which errors
// one can have, which names it gets, and how objects of its versions are pruned,
// completed and validated.
package definition

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Definition is a definition that is in use, made ready to read objects with.
type Definition struct {
	Object   *apiextensionsv1.CustomResourceDefinition
	Versions []*Version // in the order of the definition
	// StorageVersion is the version in which objects are stored.
	StorageVersion *Version
}

// New makes a valid definition ready.
func New(object *apiextensionsv1.CustomResourceDefinition) (*Definition, error) {
	d := &Definition{Object: object}
	for i := range object.Spec.Versions {
		v, err := newVersion(object, &object.Spec.Versions[i])
		if err != nil {
			return nil, fmt.Errorf("version %s of %s: %w", object.Spec.Versions[i].Name, object.Name, err)
		}
		d.Versions = append(d.Versions, v)
		if v.Spec.Storage {
			d.StorageVersion = v
		}
	}
	if d.StorageVersion == nil {
		return nil, fmt.Errorf("%s has no version in which objects are stored", object.Name)
	}
	return d, nil
}

// Served is the version of that name, false if clients cannot reach it.
func (d *Definition) Served(name string) (*Version, bool) {
	for _, v := range d.Versions {
		if v.Spec.Name == name && v.Spec.Served {
			return v, true
		}
	}
	return nil, false
}

// Version is one version of the objects.
type Version struct {
	Spec   *apiextensionsv1.CustomResourceDefinitionVersion
	schema *schemas
}

func newVersion(object *apiextensionsv1.CustomResourceDefinition, spec *apiextensionsv1.CustomResourceDefinitionVersion) (*Version, error) {
	s, err := schemasOf(spec)
	if err != nil {
		return nil, err
	}
	return &Version{Spec: spec, schema: s}, nil
}

// HasStatus says that the version has a status subresource.
func (v *Version) HasStatus() bool {
	return v.Spec.Subresources != nil && v.Spec.Subresources.Status != nil
}

// Scale is how the version can be scaled; nil: it cannot.
func (v *Version) Scale() *apiextensionsv1.CustomResourceSubresourceScale {
	if v.Spec.Subresources == nil {
		return nil
	}
	return v.Spec.Subresources.Scale
}
