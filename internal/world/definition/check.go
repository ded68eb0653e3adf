package definition

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// CheckName returns the check of a definition's name.
func CheckName(o *object) func(name string, prefix bool) []string {
	return func(name string, prefix bool) []string {
		messages := validation.NameIsDNSSubdomain(name, prefix)
		if name != o.Spec.Names.Plural+"."+o.Spec.Group {
			messages = append(messages, `must be spec.names.plural+"."+spec.group`)
		}
		return messages
	}
}

// Check returns the field errors of a definition. CheckName returns the errors of its name.
func Check(o *object) field.ErrorList {
	errs := checkSpec(&o.Spec, field.NewPath("spec"))
	errs = append(errs, checkNames(&o.Status.AcceptedNames, field.NewPath("status", "acceptedNames"))...)
	errs = append(errs, checkStored(o)...)
	return append(errs, checkApproval(o)...)
}

// CheckUpdate returns the field errors of a change.
func CheckUpdate(o, old *object) field.ErrorList {
	path := field.NewPath("spec")
	errs := checkSpec(&o.Spec, path)
	if IsEstablished(old) {
		errs = append(errs, validation.ValidateImmutableField(o.Spec.Scope, old.Spec.Scope, path.Child("scope"))...)
		errs = append(errs, validation.ValidateImmutableField(o.Spec.Names.Kind, old.Spec.Names.Kind, path.Child("names", "kind"))...)
	}
	errs = append(errs, validation.ValidateImmutableField(o.Spec.Group, old.Spec.Group, path.Child("group"))...)
	errs = append(errs, validation.ValidateImmutableField(o.Spec.Names.Plural, old.Spec.Names.Plural, path.Child("names", "plural"))...)
	errs = append(errs, checkNames(&o.Status.AcceptedNames, field.NewPath("status", "acceptedNames"))...)
	errs = append(errs, checkStored(o)...)
	if o.Annotations[apiextensionsv1.KubeAPIApprovedAnnotation] != old.Annotations[apiextensionsv1.KubeAPIApprovedAnnotation] {
		errs = append(errs, checkApproval(o)...)
	}
	return errs
}

func checkSpec(spec *apiextensionsv1.CustomResourceDefinitionSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch messages := utilvalidation.IsDNS1123Subdomain(spec.Group); {
	case spec.Group == "":
		errs = append(errs, field.Required(at.Child("group"), ""))
	case len(messages) > 0:
		errs = append(errs, field.Invalid(at.Child("group"), spec.Group, strings.Join(messages, ",")))
	case !strings.Contains(spec.Group, "."):
		errs = append(errs, field.Invalid(at.Child("group"), spec.Group, "should be a domain with at least one dot"))
	}
	errs = append(errs, oneOf(at.Child("scope"), string(spec.Scope), "Cluster", "Namespaced")...)
	errs = append(errs, checkVersions(spec, at.Child("versions"))...)
	errs = append(errs, checkParts(spec, at)...)
	for _, name := range []struct{ field, value string }{
		{"plural", spec.Names.Plural}, {"singular", spec.Names.Singular}, {"kind", spec.Names.Kind}, {"listKind", spec.Names.ListKind},
	} {
		if name.value == "" {
			errs = append(errs, field.Required(at.Child("names", name.field), ""))
		}
	}
	errs = append(errs, checkNames(&spec.Names, at.Child("names"))...)
	if spec.PreserveUnknownFields {
		errs = append(errs, field.Invalid(at.Child("preserveUnknownFields"), true, "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"))
	}
	return append(errs, checkConversion(spec.Conversion, at.Child("conversion"))...)
}

func oneOf(at *field.Path, value string, accepted ...string) field.ErrorList {
	switch {
	case value == "":
		return field.ErrorList{field.Required(at, "")}
	case slices.Contains(accepted, value):
		return nil
	}
	return field.ErrorList{field.NotSupported(at, value, accepted)}
}

func checkVersions(spec *apiextensionsv1.CustomResourceDefinitionSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	stored := 0
	seen := map[string]bool{}
	for i := range spec.Versions {
		v := &spec.Versions[i]
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			errs = append(errs, field.Required(at.Index(i).Child("schema", "openAPIV3Schema"), ""))
		}
		if v.Storage {
			stored++
		}
		seen[v.Name] = true
	}
	for i := range spec.Versions {
		v := &spec.Versions[i]
		if messages := utilvalidation.IsDNS1035Label(v.Name); len(messages) > 0 {
			errs = append(errs, field.Invalid(at.Index(i).Child("name"), v.Name, strings.Join(messages, ",")))
		}
		errs = append(errs, checkWarning(v, at.Index(i).Child("deprecationWarning"))...)
	}
	if len(seen) < len(spec.Versions) {
		errs = append(errs, field.Invalid(at, spec.Versions, "must contain unique version names"))
	}
	if stored != 1 {
		errs = append(errs, field.Invalid(at, spec.Versions, "must have exactly one version marked as storage version"))
	}
	return errs
}

// checkParts checks schemas, subresources, columns and selectable fields. A part that all versions
// share is at the top level of the internal version, and is checked once.
func checkParts(spec *apiextensionsv1.CustomResourceDefinitionSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, part := range []struct {
		common, own []string
		of          func(v *apiextensionsv1.CustomResourceDefinitionVersion) any
		check       func(v *apiextensionsv1.CustomResourceDefinitionVersion, at *field.Path) field.ErrorList
	}{
		{[]string{"validation", "openAPIV3Schema"}, []string{"schema", "openAPIV3Schema"},
			func(v *apiextensionsv1.CustomResourceDefinitionVersion) any { return v.Schema }, checkSchema},
		{[]string{"subresources"}, []string{"subresources"},
			func(v *apiextensionsv1.CustomResourceDefinitionVersion) any { return v.Subresources }, checkSubresources},
		{[]string{"additionalPrinterColumns"}, []string{"additionalPrinterColumns"},
			func(v *apiextensionsv1.CustomResourceDefinitionVersion) any { return v.AdditionalPrinterColumns }, checkColumns},
		{[]string{"selectableFields"}, []string{"selectableFields"},
			func(v *apiextensionsv1.CustomResourceDefinitionVersion) any { return v.SelectableFields }, checkSelectable},
	} {
		versions, path := spec.Versions, func(i int) *field.Path { return at.Child("versions").Index(i).Child(part.own[0], part.own[1:]...) }
		if len(versions) > 0 && !slices.ContainsFunc(versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
			return !equality.Semantic.DeepEqual(part.of(&v), part.of(&versions[0]))
		}) {
			versions, path = versions[:1], func(int) *field.Path { return at.Child(part.common[0], part.common[1:]...) }
		}
		for i := range versions {
			errs = append(errs, part.check(&versions[i], path(i))...)
		}
	}
	return errs
}

func checkWarning(v *apiextensionsv1.CustomResourceDefinitionVersion, at *field.Path) field.ErrorList {
	text := v.DeprecationWarning
	refuse := func(format string, args ...any) field.ErrorList {
		return field.ErrorList{field.Invalid(at, text, fmt.Sprintf(format, args...))}
	}
	switch {
	case text == nil:
		return nil
	case !v.Deprecated:
		return refuse("can only be set for deprecated versions")
	case len(*text) > 256:
		return refuse("must be <= 256 characters long")
	case *text == "":
		return refuse("must not be an empty string")
	}
	if i := strings.IndexFunc(*text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		return refuse("must only contain printable UTF-8 characters; non-printable character found at index %d", i)
	}
	return nil
}

func checkNames(n *names, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	label := func(at *field.Path, name, prefix string, lower bool) {
		checked := name
		if lower {
			checked = strings.ToLower(name)
		}
		if messages := utilvalidation.IsDNS1035Label(checked); name != "" && len(messages) > 0 {
			errs = append(errs, field.Invalid(at, name, prefix+strings.Join(messages, ",")))
		}
	}
	const mixed = "may have mixed case, but should otherwise match: "
	label(at.Child("plural"), n.Plural, "", false)
	label(at.Child("singular"), n.Singular, "", false)
	label(at.Child("kind"), n.Kind, mixed, true)
	label(at.Child("listKind"), n.ListKind, mixed, true)
	for i, name := range n.ShortNames {
		label(at.Child("shortNames").Index(i), name, "", false)
	}
	if n.Kind != "" && n.Kind == n.ListKind {
		errs = append(errs, field.Invalid(at.Child("listKind"), n.ListKind, "kind and listKind may not be the same"))
	}
	for i, name := range n.Categories {
		label(at.Child("categories").Index(i), name, "", false)
	}
	return errs
}

// checkStored checks that stored versions remain until the status drops them.
func checkStored(o *object) field.ErrorList {
	at, stored := field.NewPath("status", "storedVersions"), o.Status.StoredVersions
	if len(stored) == 0 {
		return field.ErrorList{field.Invalid(at, stored, "must have at least one stored version")}
	}
	var errs field.ErrorList
	for _, v := range o.Spec.Versions {
		if v.Storage && !slices.Contains(stored, v.Name) {
			errs = append(errs, field.Invalid(at, stored, "must have the storage version "+v.Name))
		}
	}
	for i, name := range stored {
		if !slices.ContainsFunc(o.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == name }) {
			errs = append(errs, field.Invalid(at.Index(i), name, fmt.Sprintf("missing from spec.versions; %[1]s was previously a storage version, "+
				"and must remain in spec.versions until a storage migration ensures no data remains persisted in %[1]s and removes %[1]s from status.storedVersions", name)))
		}
	}
	return errs
}

func checkApproval(o *object) field.ErrorList {
	if !apihelpers.IsProtectedCommunityGroup(o.Spec.Group) {
		return nil
	}
	at := field.NewPath("metadata", "annotations").Key(apiextensionsv1.KubeAPIApprovedAnnotation)
	switch state, reason := apihelpers.GetAPIApprovalState(o.Annotations); state {
	case apihelpers.APIApprovalMissing:
		return field.ErrorList{field.Required(at, reason)}
	case apihelpers.APIApprovalInvalid:
		return field.ErrorList{field.Invalid(at, o.Annotations[apiextensionsv1.KubeAPIApprovedAnnotation], reason)}
	}
	return nil
}

func checkConversion(c *apiextensionsv1.CustomResourceConversion, at *field.Path) field.ErrorList {
	if c == nil {
		return nil
	}
	errs := oneOf(at.Child("strategy"), string(c.Strategy), string(apiextensionsv1.NoneConverter), string(apiextensionsv1.WebhookConverter))
	switch {
	case c.Strategy == apiextensionsv1.WebhookConverter && (c.Webhook == nil || c.Webhook.ClientConfig == nil):
		errs = append(errs, field.Required(at.Child("webhookClientConfig"), "required when strategy is set to Webhook"))
	case c.Strategy == apiextensionsv1.NoneConverter && c.Webhook != nil && !equality.Semantic.DeepEqual(*c.Webhook, apiextensionsv1.WebhookConversion{}):
		errs = append(errs, field.Forbidden(at.Child("webhookClientConfig"), "should not be set when strategy is not set to Webhook"))
	}
	return errs
}
