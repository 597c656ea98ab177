// One access of one warp to shared memory in each launch, for a profiler: see patterns.py.
#include <cstdio>
#include <cuda_runtime.h>
#include "patterns.h"
template<class T> __global__ void ld(const int* idx, T* out){
  __shared__ T s[600];
  int i = idx[threadIdx.x];
  if (i >= 0) { T v; 
    unsigned a = (unsigned)__cvta_generic_to_shared(&s[i]);
    if constexpr (sizeof(T)==16) { float4 w; asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3},[%4];":"=f"(w.x),"=f"(w.y),"=f"(w.z),"=f"(w.w):"r"(a)); v = *(T*)&w; }
    else if constexpr (sizeof(T)==8) { float2 w; asm volatile("ld.shared.v2.f32 {%0,%1},[%2];":"=f"(w.x),"=f"(w.y):"r"(a)); v=*(T*)&w; }
    else { float w; asm volatile("ld.shared.f32 %0,[%1];":"=f"(w):"r"(a)); v=*(T*)&w; }
    out[threadIdx.x] = v; }
}
template<class T> __global__ void st(const int* idx, T* out){
  __shared__ T s[600];
  int i = idx[threadIdx.x];
  if (i >= 0) {
    unsigned a = (unsigned)__cvta_generic_to_shared(&s[i]);
    float x = i;
    if constexpr (sizeof(T)==16) asm volatile("st.shared.v4.f32 [%0],{%1,%1,%1,%1};"::"r"(a),"f"(x):"memory");
    else if constexpr (sizeof(T)==8) asm volatile("st.shared.v2.f32 [%0],{%1,%1};"::"r"(a),"f"(x):"memory");
    else asm volatile("st.shared.f32 [%0],%1;"::"r"(a),"f"(x):"memory");
  }
}
int main(){
  int* d; float4* o; cudaMalloc(&d,sizeof(PAT)); cudaMalloc(&o,4096);
  cudaMemcpy(d,PAT,sizeof(PAT),cudaMemcpyHostToDevice);
  for(int p=0;p<N;p++){
    ld<float4><<<1,32>>>(d+32*p,(float4*)o); ld<float2><<<1,32>>>(d+32*p,(float2*)o); ld<float><<<1,32>>>(d+32*p,(float*)o);
    st<float4><<<1,32>>>(d+32*p,(float4*)o); st<float2><<<1,32>>>(d+32*p,(float2*)o); st<float><<<1,32>>>(d+32*p,(float*)o);
  }
  printf("%s\n",cudaGetErrorString(cudaDeviceSynchronize()));
}
