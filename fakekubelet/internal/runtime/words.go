package runtime

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Found returns the path of a command's first word, which is a path or a name in the directories of
// PATH. It is empty if the machine lacks the program.
func (r *Runtime) Found(word string, env []string) string {
	if strings.Contains(word, "/") {
		return r.there(word)
	}
	for _, dir := range filepath.SplitList(searchPath(env)) {
		if program := r.there(path.Join(dir, word)); program != "" && word != "" {
			return program
		}
	}
	return ""
}

func (r *Runtime) there(program string) string {
	if _, err := r.options.Machine.Lstat(program); err != nil {
		return ""
	}
	return program
}

// searchPath returns the PATH of an environment, or by default csisim's, which programs inherit.
func searchPath(env []string) string {
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			return value
		}
	}
	return os.Getenv("PATH")
}

// names reports whether a word of a command means the program of a container's image. This holds
// for the name of the program, the name of the image, and the first word of the container's
// command.
func names(word string, spec *corev1.Container, executable string) bool {
	image, _, _ := strings.Cut(path.Base(spec.Image), "@")
	image, _, _ = strings.Cut(image, ":")
	base := path.Base(word)
	return base == image || base == path.Base(executable) || len(spec.Command) > 0 && word == spec.Command[0]
}
