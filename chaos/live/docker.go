//go:build unix

package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"
)

const (
	imageVar      = "REDLOCK_REDIS_IMAGE" // the environment variable that names an image
	officialImage = "redis:7.4"           // taken if it does not

	engineTimeout = 30 * time.Second // for one answer of the engine
	pullTimeout   = 5 * time.Minute
)

// engine is the Docker engine of this machine, and the image to take.
//
// Its containers use the machine's own network, so that a node's address is the one that its redis-server listens on: it
// stays across restarts, and nothing relays in between. They see the folder that they work in under its own path, and run
// as the harness's own user, so that what they write can be read, cut back and deleted.
type engine struct {
	pool    *dockertest.Pool
	patient *docker.Client // without a time-out
	version string
	image   string
}

func (e *engine) String() string {
	return fmt.Sprintf("Docker engine %s with image %s", e.version, e.image)
}

func dockerAvailable(ctx context.Context) (string, error) {
	e, err := findEngine(ctx)
	if err != nil {
		return "", err
	}
	return e.String(), nil
}

func prepareDocker(ctx context.Context, c Config) (startNode, error) {
	e, err := findEngine(ctx)
	if err != nil {
		return nil, err
	}
	if err := e.sweep(); err != nil {
		return nil, fmt.Errorf("remove the containers of harnesses that were killed: %w", err)
	}
	return prepareServers(ctx, c, e)
}

// findEngine returns an engine that answers and has the image, which it pulls if need be. The error wraps
// ErrUnsupported.
func findEngine(ctx context.Context) (*engine, error) {
	if runtime.GOOS != "linux" {
		return nil, unsupported("containers that share this machine's network and clock need Linux")
	}
	e := &engine{image: cmp.Or(os.Getenv(imageVar), officialImage)}
	var err1, err2 error
	e.pool, err1 = dockertest.NewPool("")
	patient, err2 := dockertest.NewPool("")
	if err := errors.Join(err1, err2); err != nil {
		return nil, unsupported("no Docker engine can be asked: %w", err1)
	}
	e.patient = patient.Client
	e.pool.Client.SetTimeout(engineTimeout)
	if at := e.pool.Client.Endpoint(); !strings.HasPrefix(at, "unix://") {
		return nil, unsupported("the Docker engine at %s need not be on this machine", at)
	}
	about, err := e.pool.Client.Version()
	if err != nil {
		if dial, ok := errors.AsType[*net.OpError](err); ok {
			err = dial.Err // the rest is about HTTP
		}
		return nil, unsupported("no Docker engine answers: %w", err)
	}
	e.version = about.Get("Version")
	if err := e.pull(ctx); err != nil {
		return nil, unsupported("Docker engine %s has no image %s (%s names another): %w", e.version, e.image, imageVar, err)
	}
	return e, nil
}

// pull makes sure that the engine has the image.
func (e *engine) pull(ctx context.Context) error {
	_, err := e.pool.Client.InspectImage(e.image)
	if !errors.Is(err, docker.ErrNoSuchImage) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, pullTimeout)
	defer cancel()
	repository, tag := e.splitImage()
	return e.patient.PullImage(docker.PullImageOptions{Repository: repository, Tag: tag, Context: ctx}, docker.AuthConfiguration{})
}

// splitImage is the image's name without its tag, which may follow a registry with a port, and the tag.
func (e *engine) splitImage() (repository, tag string) {
	if colon := strings.LastIndexByte(e.image, ':'); colon > strings.LastIndexByte(e.image, '/') {
		return e.image[:colon], e.image[colon+1:]
	}
	return e.image, "latest"
}
