package kind

import (
	"reflect"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The rules of the snapshot CustomResourceDefinitions, with their messages.

// ruled returns the field errors of an object with a definition: if its form is invalid, its rules
// are not evaluated.
func ruled(form, rules field.ErrorList) field.ErrorList {
	if len(form) == 0 {
		return rules
	}
	return append(form, field.Invalid(nil, nil,
		"some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
}

// driverAndPolicy checks two fields of every class and content.
func driverAndPolicy(path *field.Path, driver string, policy snapshotv1.DeletionPolicy) field.ErrorList {
	return append(deletionPolicy(path.Child("deletionPolicy"), policy), mandatory(path.Child("driver"), driver)...)
}

func mandatory(path *field.Path, value string) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return nil
}

func deletionPolicy(path *field.Path, policy snapshotv1.DeletionPolicy) field.ErrorList {
	if policy == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return oneOf(path, policy, snapshotv1.VolumeSnapshotContentDelete, snapshotv1.VolumeSnapshotContentRetain)
}

// optionalName checks that a name is not empty if it is set.
func optionalName(path *field.Path, name string, value *string) field.ErrorList {
	if value != nil && *value == "" {
		return field.ErrorList{field.Invalid(path.Child(name), *value, name+" must not be the empty string when set")}
	}
	return nil
}

// broken is a rule of an object, which the message does not repeat.
func broken(path *field.Path, rule string) field.ErrorList {
	return field.ErrorList{field.Invalid(path, field.OmitValueType{}, rule)}
}

// exactlyOne of two fields must be set.
func exactlyOne(path *field.Path, a string, hasA bool, b string, hasB bool) field.ErrorList {
	if hasA != hasB {
		return nil
	}
	return broken(path, "exactly one of "+a+" and "+b+" must be set")
}

// stays rejects a change that unsets a field.
func stays[T any](path *field.Path, name string, now, was *T) field.ErrorList {
	if was == nil || now != nil {
		return nil
	}
	return broken(path, name+" is required once set")
}

// settled rejects a change of a field that is set.
func settled[T any](path *field.Path, name string, now, was *T) field.ErrorList {
	if was == nil || now == nil || equality.Semantic.DeepEqual(now, was) {
		return nil
	}
	return immutableRule(path.Child(name), *now, name+" is immutable")
}

// immutableRule quotes a value unless it is an object or a list.
func immutableRule(path *field.Path, value any, rule string) field.ErrorList {
	switch reflect.TypeOf(value).Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice:
		return broken(path, rule)
	}
	return field.ErrorList{field.Invalid(path, value, rule)}
}

func namedReference(path *field.Path, name string, ref corev1.ObjectReference) field.ErrorList {
	if ref.Name != "" && ref.Namespace != "" {
		return nil
	}
	return broken(path, "both "+name+".name and "+name+".namespace must be set")
}

func immutableOnceSet(path *field.Path, what string, now, was any) field.ErrorList {
	if equality.Semantic.DeepEqual(now, was) {
		return nil
	}
	return immutableRule(path, now, what+" immutable once set")
}
