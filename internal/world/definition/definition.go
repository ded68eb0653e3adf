// Package definition implements CustomResourceDefinitions: it validates them, assigns their names,
// and prunes, completes and validates the objects of their versions.
package definition

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Definition is a definition prepared for reading objects.
type Definition struct {
	Object   *apiextensionsv1.CustomResourceDefinition
	Versions []*Version // in the order of the definition
	// StorageVersion is the version in which objects are stored.
	StorageVersion *Version
}

// New prepares a valid definition.
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

// Served returns the version with a name; false if it is not served.
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

// HasStatus reports whether the version has a status subresource.
func (v *Version) HasStatus() bool {
	return v.Spec.Subresources != nil && v.Spec.Subresources.Status != nil
}

// Scale returns the scale subresource of the version; nil if it has none.
func (v *Version) Scale() *apiextensionsv1.CustomResourceSubresourceScale {
	if v.Spec.Subresources == nil {
		return nil
	}
	return v.Spec.Subresources.Scale
}
