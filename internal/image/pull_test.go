package image_test

import (
	"archive/tar"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/image"
)

// site is a registry with one user. It counts the layers that it serves.
type site struct {
	host  string
	blobs atomic.Int32
	cut   atomic.Bool // serves only half of each layer
}

var user = &authn.Basic{Username: "me", Password: "secret"}

func startRegistry(t *testing.T) *site {
	s := &site{}
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, password, _ := r.BasicAuth(); name != user.Username || password != user.Password {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
			s.blobs.Add(1)
			if s.cut.Load() {
				_, _ = w.Write([]byte("half"))
				return
			}
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.host = strings.TrimPrefix(server.URL, "http://")
	return s
}

// login adds the user to docker's configuration.
func (s *site) login(t *testing.T) {
	home := t.TempDir()
	secret := base64.StdEncoding.EncodeToString([]byte(user.Username + ":" + user.Password))
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.json"), fmt.Appendf(nil, `{"auths":{%q:{"auth":%q}}}`, s.host, secret), 0o600))
	t.Setenv("DOCKER_CONFIG", home)
}

func (s *site) push(t *testing.T, as string, i v1.Image) string {
	ref := s.at(t, as)
	require.NoError(t, remote.Write(ref, i, remote.WithAuth(user)))
	return ref.String()
}

func (s *site) pushIndex(t *testing.T, as string, index v1.ImageIndex) string {
	ref := s.at(t, as)
	require.NoError(t, remote.WriteIndex(ref, index, remote.WithAuth(user)))
	return ref.String()
}

func (s *site) at(t *testing.T, as string) name.Reference {
	ref, err := name.ParseReference(s.host + "/" + as)
	require.NoError(t, err)
	return ref
}

func forPlatform(i v1.Image, architecture string) mutate.IndexAddendum {
	return mutate.IndexAddendum{Add: i, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture}}}
}

// otherArchitecture returns an architecture that this machine does not have.
func otherArchitecture() string {
	if runtime.GOARCH == "arm64" {
		return "amd64"
	}
	return "arm64"
}

func TestAnImageIsPulledOnceByItsDigest(t *testing.T) {
	s := startRegistry(t)
	s.login(t)
	puller := image.Puller{Dir: filepath.Join(t.TempDir(), "images")}
	first := made(t, runtime.GOARCH, []tar.Header{{Name: "bin/app"}})
	tag := s.push(t, "x/app:1", first)
	digest, err := first.Digest()
	require.NoError(t, err)
	s.pushIndex(t, "x/app:all", mutate.AppendManifests(empty.Index, forPlatform(first, runtime.GOARCH), forPlatform(made(t, otherArchitecture(), []tar.Header{{Name: "bin/other"}}), otherArchitecture())))

	var fetched int32
	for _, reference := range []string{tag, tag, s.host + "/x/app@" + digest.String(), s.host + "/x/app:all"} {
		read, err := puller.Pull(t.Context(), reference)
		require.NoError(t, err, reference)
		assert.Equal(t, []string{"/bin/app"}, read.Config.Cmd)
		dir := t.TempDir()
		require.NoError(t, read.Unpack(t.Context(), dir, false))
		assert.FileExists(t, filepath.Join(dir, "bin/app"))
		if fetched == 0 {
			fetched = s.blobs.Load()
		}
		assert.Equal(t, fetched, s.blobs.Load(), "%s has no layer that is not kept", reference)
	}

	second := made(t, runtime.GOARCH, []tar.Header{{Name: "bin/newer"}})
	s.push(t, "x/app:1", second)
	read, err := puller.Pull(t.Context(), tag)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, read.Unpack(t.Context(), dir, false))
	assert.FileExists(t, filepath.Join(dir, "bin/newer"), "a tag is looked up each time")
}

func TestAFailedPullLeavesNothing(t *testing.T) {
	s := startRegistry(t)
	puller := image.Puller{Dir: filepath.Join(t.TempDir(), "images")}
	good := s.push(t, "x/app:1", made(t, runtime.GOARCH, []tar.Header{{Name: "bin/app"}}))
	foreign := s.pushIndex(t, "x/foreign:1", mutate.AppendManifests(empty.Index, forPlatform(made(t, otherArchitecture()), otherArchitecture())))
	alone := s.push(t, "x/alone:1", made(t, otherArchitecture(), []tar.Header{{Name: "bin/app"}}))
	pull := func(reference string) error {
		_, err := puller.Pull(t.Context(), reference)
		return err
	}
	require.ErrorContains(t, pull(good), "401 Unauthorized", "no user is logged in")
	s.login(t)
	require.ErrorContains(t, pull(s.host+"/x/app:2"), "MANIFEST_UNKNOWN")
	require.ErrorContains(t, pull("NO such image"), "could not parse reference: NO such image")
	require.ErrorContains(t, pull(foreign), "no child with platform linux/"+runtime.GOARCH)
	require.ErrorContains(t, pull(alone), "it is for linux/"+otherArchitecture()+", and this machine runs linux/"+runtime.GOARCH)

	s.cut.Store(true)
	require.ErrorContains(t, pull(good), "fetch its layers: ")
	left, err := filepath.Glob(puller.Dir + "/partial-*")
	require.NoError(t, err)
	assert.Empty(t, left)
	s.cut.Store(false)
	require.NoError(t, pull(good))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = puller.Pull(ctx, good)
	require.ErrorIs(t, err, context.Canceled)
}

// OCI image specification, Pre-Defined Annotation Keys.
func TestALayoutHasSeveralImagesByTheirNames(t *testing.T) {
	named := func(file, annotation, value string) mutate.IndexAddendum {
		return mutate.IndexAddendum{Add: made(t, runtime.GOARCH, []tar.Header{{Name: file}}), Descriptor: v1.Descriptor{Annotations: map[string]string{annotation: value}}}
	}
	dir := filepath.Join(t.TempDir(), "oci")
	_, err := layout.Write(dir, mutate.AppendManifests(empty.Index,
		named("bin/one", "org.opencontainers.image.ref.name", "registry.local/app:1"),
		named("bin/two", "org.opencontainers.image.ref.name", "v2"),
		named("bin/three", "io.containerd.image.name", "docker.io/library/tools:latest")))
	require.NoError(t, err)
	for asked, file := range map[string]string{"registry.local/app:1": "bin/one", "registry.local/app:v2": "bin/two", "tools": "bin/three"} {
		read, err := image.ReadFrom(t.Context(), dir, asked)
		require.NoError(t, err, asked)
		into := t.TempDir()
		require.NoError(t, read.Unpack(t.Context(), into, false))
		assert.FileExists(t, filepath.Join(into, file))
	}
	_, err = image.ReadFrom(t.Context(), dir, "registry.local/app:3")
	require.EqualError(t, err, "the OCI layout has 3 images for linux/"+runtime.GOARCH+": want one, or one that its annotation org.opencontainers.image.ref.name calls registry.local/app:3")
}
