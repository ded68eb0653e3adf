package kind

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Version: "v1", Name: "Secret",
		rules: secretRules,
		Columns: []Column{
			nameColumn,
			text("Type", func(s *corev1.Secret) string { return string(s.Type) }),
			show("Data", "string", func(s *corev1.Secret) any { return int64(len(s.Data)) }),
			ageColumn,
		},
		Fields: selectable(map[string]func(*corev1.Secret) string{
			"type": func(o *corev1.Secret) string { return string(o.Type) },
		}),
	})
}

var secretRules = rules[*corev1.Secret]{
	fill: func(secret *corev1.Secret) {
		setEmpty(&secret.Type, corev1.SecretTypeOpaque)
		if secret.Data == nil && len(secret.StringData) > 0 {
			secret.Data = map[string][]byte{}
		}
		for key, value := range secret.StringData {
			secret.Data[key] = []byte(value)
		}
		secret.StringData = nil
	},
	passes:   []store.Pass{store.PassMetadata, store.PassChange, store.PassObject},
	validate: checkSecret,
	validateUpdate: func(now, was *corev1.Secret) field.ErrorList {
		errs := immutable(field.NewPath("type"), now.Type, was.Type)
		if was.Immutable == nil || !*was.Immutable {
			return errs
		}
		errs = append(errs, staysImmutable(now.Immutable)...)
		return append(errs, sealed("data", now.Data, was.Data)...)
	},
}

const sealedRule = "field is immutable when `immutable` is set"

// staysImmutable rejects making an immutable object mutable.
func staysImmutable(now *bool) field.ErrorList {
	if now != nil && *now {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("immutable"), sealedRule)}
}

func sealed(name string, now, was any) field.ErrorList {
	if immutable(nil, now, was) == nil {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath(name), sealedRule)}
}

func checkSecret(secret *corev1.Secret) (errs field.ErrorList) {
	path, size := field.NewPath("data"), 0
	for _, key := range sortedKeys(secret.Data) {
		errs = append(errs, invalid(path.Key(key), key, utilvalidation.IsConfigMapKey(key))...)
		size += len(secret.Data[key])
	}
	if size > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(path, "", corev1.MaxSecretSize))
	}
	return append(errs, secretType(path, secret)...)
}

// secretType checks the required fields of a secret with a well known type.
func secretType(path *field.Path, secret *corev1.Secret) field.ErrorList {
	switch secret.Type {
	case corev1.SecretTypeServiceAccountToken:
		if secret.Annotations[corev1.ServiceAccountNameKey] == "" {
			return field.ErrorList{field.Required(field.NewPath("metadata", "annotations").Key(corev1.ServiceAccountNameKey), "")}
		}
	case corev1.SecretTypeDockercfg:
		return jsonData(path.Key(corev1.DockerConfigKey), secret.Data, corev1.DockerConfigKey)
	case corev1.SecretTypeDockerConfigJson:
		return jsonData(path.Key(corev1.DockerConfigJsonKey), secret.Data, corev1.DockerConfigJsonKey)
	case corev1.SecretTypeBasicAuth:
		errs := lacking(path, secret.Data, corev1.BasicAuthUsernameKey, corev1.BasicAuthPasswordKey)
		if len(errs) == 2 {
			return errs
		}
	case corev1.SecretTypeSSHAuth:
		if len(secret.Data[corev1.SSHAuthPrivateKey]) == 0 {
			return field.ErrorList{field.Required(path.Key(corev1.SSHAuthPrivateKey), "")}
		}
	case corev1.SecretTypeTLS:
		return lacking(path, secret.Data, corev1.TLSCertKey, corev1.TLSPrivateKeyKey)
	}
	return nil
}

func jsonData(path *field.Path, data map[string][]byte, key string) field.ErrorList {
	text, ok := data[key]
	if !ok {
		return field.ErrorList{field.Required(path, "")}
	}
	if err := json.Unmarshal(text, &map[string]any{}); err != nil {
		return field.ErrorList{field.Invalid(path, "<secret contents redacted>", err.Error())}
	}
	return nil
}

func lacking(path *field.Path, data map[string][]byte, keys ...string) (errs field.ErrorList) {
	for _, key := range keys {
		if _, ok := data[key]; !ok {
			errs = append(errs, field.Required(path.Key(key), ""))
		}
	}
	return errs
}
