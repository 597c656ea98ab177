"""Times torch.distributed on two GPUs: `python3 torch_distributed.py` prints rows `work,bytes,us`.

Two processes, one for each GPU, NCCL. A row is the best of several rounds: of collectives one after the other until all have run, and of one collective with the
wait for it. Copies go from GPU to GPU in one process.
"""

import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as processes

ROUNDS = 20


def best(run, wait, times):
    found = float("inf")
    for _ in range(ROUNDS):
        wait()
        start = time.perf_counter()
        for _ in range(times):
            run()
        wait()
        found = min(found, (time.perf_counter() - start) / times)
    return found * 1e6


def rank(number, sizes, results):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29577")
    torch.cuda.set_device(number)
    dist.init_process_group("nccl", rank=number, world_size=2, device_id=torch.device("cuda", number))
    for size in sizes:
        tensor = torch.ones(size // 4, device="cuda")
        dist.all_reduce(tensor)
        times = 20 if size <= 1 << 24 else 5
        together = best(lambda: dist.all_reduce(tensor), torch.cuda.synchronize, times)

        def one():
            dist.all_reduce(tensor)
            torch.cuda.synchronize()

        alone = best(one, torch.cuda.synchronize, 1)
        if number == 0:
            results.put(("all_reduce", size, together))
            results.put(("all_reduce, waited for", size, alone))
        del tensor
    dist.barrier()
    dist.destroy_process_group()


def main():
    sizes = [int(size) for size in sys.argv[1:]]
    context = processes.get_context("spawn")
    results = context.SimpleQueue()
    processes.spawn(rank, args=(sizes, results), nprocs=2)
    print("work,bytes,us")
    while not results.empty():
        print("{},{},{:.3f}".format(*results.get()))
    size = 1 << 28
    here, there = torch.ones(size // 4, device="cuda:0"), torch.ones(size // 4, device="cuda:1")

    def wait():
        torch.cuda.synchronize(0)
        torch.cuda.synchronize(1)

    there.copy_(here)
    print("copy,{},{:.3f}".format(size, best(lambda: there.copy_(here), wait, 20)))


if __name__ == "__main__":
    main()
