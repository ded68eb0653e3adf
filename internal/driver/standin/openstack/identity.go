package openstack

import (
	"crypto/rand"
	"net/http"
	"time"
)

// tokenLife is the stated lifetime of a token.
const tokenLife = 24 * time.Hour

// authenticate is POST /v3/auth/tokens with a password.
func (c *Cloud) authenticate(request *http.Request) (answer, error) {
	type asked struct {
		Auth struct {
			Identity struct {
				Methods  []string `json:"methods"`
				Password struct {
					User struct{ Name, Password string } `json:"user"`
				} `json:"password"`
			} `json:"identity"`
			Scope struct {
				Project struct{ Name string } `json:"project"`
			} `json:"scope"`
		} `json:"auth"`
	}
	body, err := read[asked](request)
	if err != nil {
		return answer{}, err
	}
	given := body.Auth.Identity.Password.User
	if given.Name != user || given.Password != c.password || body.Auth.Scope.Project.Name != project {
		return answer{}, refuse(http.StatusUnauthorized, "The request you have made requires authentication.")
	}
	token, now := rand.Text(), time.Now()
	c.tokens[token] = true
	return answer{http.StatusCreated, map[string]string{"X-Subject-Token": token}, map[string]any{"token": map[string]any{
		"methods":    body.Auth.Identity.Methods,
		"issued_at":  now.UTC().Format(time.RFC3339),
		"expires_at": now.Add(tokenLife).UTC().Format(time.RFC3339),
		"user":       map[string]any{"id": uuidOf("user"), "name": user, "domain": map[string]any{"id": "default", "name": "Default"}},
		"project":    map[string]any{"id": uuidOf("project"), "name": project, "domain": map[string]any{"id": "default", "name": "Default"}},
		"roles":      []any{map[string]any{"id": uuidOf("role"), "name": "member"}},
		"catalog":    c.catalog(),
	}}}, nil
}

func (c *Cloud) catalog() []any {
	var all []any
	for _, service := range []struct{ kind, name, path string }{
		{"identity", "keystone", "identity/v3"},
		{"block-storage", "cinder", "volume/v3"},
		{"compute", "nova", "compute/v2.1"},
	} {
		all = append(all, map[string]any{
			"id": uuidOf(service.name), "type": service.kind, "name": service.name,
			"endpoints": []any{map[string]any{
				"id": uuidOf(service.path), "interface": "public", "region": region, "region_id": region, "url": c.url(service.path),
			}},
		})
	}
	return all
}
