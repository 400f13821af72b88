// Package deploy holds deploy/ to the tools that it is for: Helm's own lint and engine, the types of Kubernetes and of the
// Prometheus operator, the profiles of Pod Security, the reader of Dockerfiles that BuildKit has, and that of Compose.
//
// It is a module of its own, so that none of those is a dependency of berth. What is rendered is decoded strictly: a field
// that no type has is a fault. Nothing is installed anywhere, and no image is built.
package deploy
