import java.io.FileNotFoundException;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * What an object store offers, over the folder `fs.store.root`: a file appears whole when it is closed, and can be
 * listed, read and deleted. There is no rename, no append and no link: whoever needs one fails.
 */
public class StoreFileSystem extends FileSystem {
  private final RawLocalFileSystem disk = new RawLocalFileSystem();
  private URI uri;
  private java.nio.file.Path root;

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    setConf(conf);
    uri = URI.create(name.getScheme() + "://" + name.getAuthority());
    root = java.nio.file.Path.of(conf.get("fs.store.root"));
    disk.initialize(URI.create("file:///"), conf);
  }

  private java.nio.file.Path here(Path path) {
    return java.nio.file.Path.of(root + path.toUri().getPath());
  }

  private Path onDisk(Path path) {
    return new Path("file", null, here(path).toString());
  }

  private FileStatus seen(FileStatus found, Path path) {
    return new FileStatus(
        found.getLen(), found.isDirectory(), 1, 1 << 25, found.getModificationTime(), path.makeQualified(uri, null));
  }

  @Override
  public String getScheme() {
    return "store";
  }

  @Override
  public URI getUri() {
    return uri;
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return disk.open(onDisk(path), bufferSize);
  }

  @Override
  public FSDataOutputStream create(
      Path path, FsPermission permission, boolean overwrite, int bufferSize, short replication, long blockSize,
      Progressable progress) throws IOException {
    java.nio.file.Path target = here(path);
    if (!overwrite && Files.exists(target)) {
      throw new org.apache.hadoop.fs.FileAlreadyExistsException(path.toString());
    }
    java.nio.file.Path pending = root.resolveSibling(root.getFileName() + "-pending").resolve(UUID.randomUUID() + "");
    Files.createDirectories(pending.getParent());
    FilterOutputStream out = new FilterOutputStream(Files.newOutputStream(pending)) {
      private boolean closed;

      @Override
      public void write(byte[] bytes, int from, int count) throws IOException {
        out.write(bytes, from, count);
      }

      @Override
      public void close() throws IOException {
        if (closed) {
          return;
        }
        closed = true;
        super.close();
        Files.createDirectories(target.getParent());
        if (overwrite) {
          Files.move(pending, target, StandardCopyOption.ATOMIC_MOVE);
          return;
        }
        try {
          Files.move(pending, target);
        } catch (FileAlreadyExistsException taken) {
          throw new org.apache.hadoop.fs.FileAlreadyExistsException(path.toString());
        }
      }
    };
    return new FSDataOutputStream(out, statistics);
  }

  @Override
  public FSDataOutputStream append(Path path, int bufferSize, Progressable progress) {
    throw new UnsupportedOperationException("a store appends nothing: " + path);
  }

  @Override
  public boolean rename(Path from, Path to) {
    throw new UnsupportedOperationException("a store renames nothing: " + from + " to " + to);
  }

  @Override
  public void createSymlink(Path target, Path link, boolean createParent) {
    throw new UnsupportedOperationException("a store links nothing: " + link);
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    return disk.delete(onDisk(path), recursive);
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    FileStatus[] found = disk.listStatus(onDisk(path));
    boolean folder = Files.isDirectory(here(path));
    FileStatus[] told = new FileStatus[found.length];
    for (int i = 0; i < found.length; i++) {
      told[i] = seen(found[i], folder ? new Path(path, found[i].getPath().getName()) : path);
    }
    return told;
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    for (Path above = path.getParent(); above != null; above = above.getParent()) {
      if (Files.isRegularFile(here(above))) { // as HDFS does
        throw new ParentNotDirectoryException(above + " (is not a directory)");
      }
    }
    if (!Files.exists(here(path))) {
      throw new FileNotFoundException(path + " does not exist");
    }
    return seen(disk.getFileStatus(onDisk(path)), path);
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    Files.createDirectories(here(path));
    return true;
  }

  @Override
  public void setWorkingDirectory(Path path) {}

  @Override
  public Path getWorkingDirectory() {
    return new Path(uri + "/");
  }
}
